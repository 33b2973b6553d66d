// Checks that package-lock.json serves every platform: node scripts/check-lock.mjs [FILE]. Needs no network.
// npm writes no entry for an optional package that the registry lacked when the lock file was made, and from then on
// `npm ci` refuses the lock file, or leaves a platform without its binary. A host in it would bind it to one registry.
import { readFileSync } from 'node:fs';

const file = process.argv[2] ?? 'package-lock.json';
const { packages } = JSON.parse(readFileSync(file, 'utf8'));
const faults = [];
for (const [path, { optionalDependencies = {}, resolved, link }] of Object.entries(packages)) {
  for (const name of Object.keys(optionalDependencies))
    if (!isFound(path, name))
      faults.push(`${path || 'the package itself'} may need ${name}, which has no entry`);
  if (resolved && !link) faults.push(`${path} names a registry: ${resolved}`);
}

if (faults.length > 0) {
  console.error(`${file}:\n${faults.map(f => `  ${f}`).join('\n')}`);
  console.error(
    'Choose versions that are out for every platform (`npm view NAME@VERSION version`), and make it again with `npm install`.',
  );
  process.exitCode = 1;
}

/** As Node looks for a package: in the node_modules of the one that asks, then of those around it. */
function isFound(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${at && `${at}/`}node_modules/${name}`]) return true;
    if (at === '') return false;
  }
}
