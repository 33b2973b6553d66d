/** The checks of `npm run check` that are scripts of this repository see what they are for. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'checks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const script = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, [`scripts/${name}.mjs`, ...args], { encoding: 'utf8' });

describe('scripts/check-lock.mjs', () => {
  const changed = (change: (packages: Record<string, { resolved?: string }>) => void) => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    change(lock.packages);
    const file = join(folder, 'package-lock.json');
    writeFileSync(file, JSON.stringify(lock));
    return script('check-lock', file);
  };

  test('the lock file of this repository passes', () => {
    const { status, stderr } = script('check-lock');
    expect([status, stderr]).toEqual([0, '']);
  });

  test.each([
    ['node_modules/@biomejs/cli-win32-x64', '@biomejs/biome'],
    ['node_modules/@rolldown/binding-darwin-arm64', 'rolldown'],
    ['node_modules/@esbuild/linux-arm64', 'esbuild'],
    ['node_modules/koffi', 'the package itself'],
  ])('without %s it is refused', (path, owner) => {
    const { status, stderr } = changed(packages => {
      expect(packages).toHaveProperty([path]);
      delete packages[path];
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`${owner} may need ${path.slice('node_modules/'.length)}, which has no entry`);
  });

  test('a package inside another one finds those of both', () => {
    const { status, stderr } = changed(packages => {
      packages['node_modules/a'] = {};
      packages['node_modules/a/node_modules/b'] = {
        optionalDependencies: { acorn: '8', c: '1', d: '1' },
      } as object;
      packages['node_modules/a/node_modules/c'] = {};
    });
    expect(status).toBe(1);
    expect(stderr.match(/may need .*/g)).toEqual(['may need d, which has no entry']);
  });

  test('the host of a registry is refused', () => {
    const { status, stderr } = changed(packages => {
      packages['node_modules/acorn'].resolved = 'https://registry.example/acorn.tgz';
    });
    expect(status).toBe(1);
    expect(stderr).toContain('node_modules/acorn names a registry');
  });
});

describe('scripts/check-workflows.mjs', () => {
  test('the workflows of this repository pass', () => {
    const { status, stderr } = script('check-workflows');
    expect([status, stderr]).toEqual([0, '']);
  });

  test('a misspelt key, an unknown property and a job that is not there are reported with their lines', () => {
    writeFileSync(
      join(folder, 'broken.yml'),
      readFileSync('.github/workflows/test.yml', 'utf8')
        .replace('runs-on: ubuntu-latest', 'runs_on: ubuntu-latest')
        .replace('matrix.os }}', 'matrix.system }}')
        .replace('  others:\n', '  others:\n    needs: nobody\n'),
    );
    const { status, stderr } = script('check-workflows', folder);
    expect(status).toBe(1);
    expect(stderr).toMatch(/broken\.yml:\d+:\d+: unexpected key "runs_on"/);
    expect(stderr).toMatch(/broken\.yml:\d+:\d+: property "system" is not defined/);
    expect(stderr).toMatch(/broken\.yml:\d+:\d+: .*needs job "nobody" which does not exist/);
  });
});

describe('scripts/check-audit.mjs', () => {
  const judged = (report: string) => {
    const file = join(folder, 'audit.json');
    writeFileSync(file, report);
    return script('check-audit', file);
  };
  const unchecked = 'npm audit: the registry does not answer it; nothing was checked.\n';

  test('a report without weaknesses passes in silence', () => {
    const { status, stdout, stderr } = judged('{ "auditReportVersion": 2, "vulnerabilities": {} }');
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  });
  test('a weakness of a package that users get is refused by its name', () => {
    const weak = { acorn: { name: 'acorn', severity: 'high' } };
    const { status, stderr } = judged(JSON.stringify({ auditReportVersion: 2, vulnerabilities: weak }));
    expect(status).toBe(1);
    expect(stderr).toContain('known weaknesses of packages that users get: acorn (high)');
  });
  test.each([
    ['that refuses to answer', '{ "message": "405 Method Not Allowed", "statusCode": 405, "error": {} }'],
    ['that answers with a page', '<html>not found</html>'],
    ['that answers with nothing', ''],
  ])('a registry %s is no failure, and is told in one line', (_, report) => {
    const { status, stdout, stderr } = judged(report);
    expect([status, stdout, stderr]).toEqual([0, unchecked, '']);
  });
  test('nor is one that is not there', () => {
    const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/' };
    const args = ['scripts/check-audit.mjs'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    expect([status, stdout]).toEqual([0, unchecked]);
  });
});
