// Makes the package's code: node scripts/build.mjs [FOLDER], by default dist.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';

const folder = process.argv[2] ?? 'dist';
rmSync(folder, { recursive: true, force: true });
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', folder];
const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
cpSync('src/devices/cuda/kernels', `${folder}/devices/cuda/kernels`, { recursive: true });
// npx starts it as a file, in a clone too
chmodSync(`${folder}/cli/main.js`, 0o755);
