// Checks the packages that users of this one get against the registry's list of known weaknesses:
//   node scripts/check-audit.mjs [REPORT], by default what `npm audit --json` says.
// A known weakness of such a package is a failure; one of the tools for development is named and is none. Neither is a
// registry that does not answer, or does not keep such a list, as most mirrors: the check then says so in one line.
import { readFileSync } from 'node:fs';
import { npmText } from './npm.mjs';

const [, , file] = process.argv;
const shipped = reportOf('--omit=dev');
if (!shipped) console.log('npm audit: the registry does not answer it; nothing was checked.');
else {
  const faults = namesIn(shipped);
  const tools = namesIn((file ? undefined : reportOf()) ?? shipped).filter(name => !faults.includes(name));
  if (tools.length > 0)
    console.log(`npm audit: known weaknesses of tools for development: ${tools.join(', ')}`);
  if (faults.length > 0) {
    console.error(`npm audit: known weaknesses of packages that users get: ${faults.join(', ')}`);
    console.error('`npm audit --omit=dev` describes them; take versions that have none.');
    process.exitCode = 1;
  }
}

/** The report of npm; undefined when it is none, but an error of the network or of the registry. */
function reportOf(...args) {
  const text = file
    ? readFileSync(file, 'utf8')
    : npmText(['audit', '--json', '--fetch-retries=0', '--fetch-timeout=20000', ...args]);
  try {
    const report = JSON.parse(text);
    return report.auditReportVersion && report.vulnerabilities ? report : undefined;
  } catch {
    return undefined;
  }
}

function namesIn({ vulnerabilities }) {
  return Object.values(vulnerabilities).map(({ name, severity }) => `${name} (${severity})`);
}
