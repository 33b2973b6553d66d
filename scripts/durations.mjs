// Writes tests/durations.json, by which tests/order.ts sorts the test files, from a report of all tests:
//   npx vitest run --reporter=json --outputFile=.cache/report.json
//   node scripts/durations.mjs .cache/report.json [--tests]
// With --tests it prints the longest tests instead, in seconds.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const [report, mode] = process.argv.slice(2);
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const seconds = ms => Number((ms / 1000).toFixed(1));
const nameOf = file => relative('.', file).replaceAll('\\', '/');

if (mode === '--tests') {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(t => [seconds(t.duration ?? 0), nameOf(name), t.fullName]),
  );
  for (const [time, file, test] of tests.sort((a, b) => b[0] - a[0]).slice(0, 60))
    console.log(`${time.toFixed(1).padStart(7)}  ${file}  ${test}`);
} else {
  const rows = testResults
    .map(({ name, startTime, endTime }) => [nameOf(name), seconds(endTime - startTime)])
    .sort(([a, s], [b, t]) => t - s || (a < b ? -1 : 1));
  writeFileSync('tests/durations.json', `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}
