/**
 * While Node loads the files of a command, functions get what they use from outside their text (plugin/capture.ts). Files that
 * esbuild bundles have been through that already (typescript.ts).
 */
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { capture } from '../plugin/capture.ts';
import { isOfProject } from '../plugin/project.ts';

interface Loaded {
  source?: unknown;
}
type Next = (url: string, context: object) => Loaded;

const { registerHooks } = nodeModule as {
  registerHooks?: (hooks: { load(url: string, context: object, next: Next): Loaded }) => void;
};

/** Where this package is: its own functions use nothing from outside, or are never compiled. */
const OWN = new URL('..', import.meta.url).href;

let registered = false;

export function captureWhileLoading(): void {
  if (registered) return;
  registered = true;
  if (registerHooks) {
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        return isUsers(url) ? withCaptures(loaded) : loaded;
      },
    });
    return;
  }
  // before Node 22.15 hooks run in a thread of their own and have to be a module, which sources are not
  if (import.meta.url.endsWith('.ts')) return;
  const hook = `import { capture } from ${JSON.stringify(new URL('../plugin/capture.js', import.meta.url).href)};
    export const load = async (url, context, next) => {
      const loaded = await next(url, context);
      if (url.startsWith(${JSON.stringify(OWN)}) || !/^file:.*\\.m?js$/.test(url) || url.includes('/node_modules/') || loaded.source == null) return loaded;
      const captured = capture(new TextDecoder().decode(loaded.source));
      return captured ? { ...loaded, source: captured.code } : loaded;
    };`;
  nodeModule.register(`data:text/javascript,${encodeURIComponent(hook)}`);
}

const isUsers = (url: string): boolean =>
  url.startsWith('file:') && !url.startsWith(OWN) && isOfProject(fileURLToPath(url));

function withCaptures(loaded: Loaded): Loaded {
  const { source } = loaded;
  if (source === null || source === undefined) return loaded;
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source as Uint8Array);
  const captured = capture(text);
  return captured ? { ...loaded, source: captured.code } : loaded;
}
