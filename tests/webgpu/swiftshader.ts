/**
 * WebGPU in Node on the CPU: Dawn (the package `webgpu`) on SwiftShader, a Vulkan driver that comes with Chromium. The dynamic
 * linker reads LD_LIBRARY_PATH when a process starts, so what uses it runs in a process of its own.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Folders where Chromium and Chrome keep their driver. */
const FOLDERS = ['/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome'];
const DRIVER = 'vk_swiftshader_icd.json';

const folder = FOLDERS.find(f => existsSync(join(f, DRIVER)));

/** Why there is none; undefined when there is one. */
export const absent: string | undefined = !folder
  ? `SwiftShader (${DRIVER} beside Chromium) is not there; \`node scripts/setup.mjs --tests\` installs it where it may`
  : hasPackage()
    ? undefined
    : 'the package `webgpu` is not installed';

if (absent) console.warn(`skipped: ${absent}`);

/** The environment of a process in which Dawn finds SwiftShader. */
export const environment: NodeJS.ProcessEnv = folder
  ? {
      ...process.env,
      VK_DRIVER_FILES: join(folder, DRIVER),
      VK_ICD_FILENAMES: join(folder, DRIVER), // the name of older loaders
      LD_LIBRARY_PATH: [folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
    }
  : process.env;

function hasPackage(): boolean {
  try {
    createRequire(import.meta.url).resolve('webgpu');
    return true;
  } catch {
    return false;
  }
}

/** Runs a JavaScript file in a process that finds SwiftShader; what it printed. */
export async function runOnSwiftShader(file: string, args: readonly string[] = []): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], {
    env: environment,
    maxBuffer: 2 ** 26,
  });
  return stdout;
}
