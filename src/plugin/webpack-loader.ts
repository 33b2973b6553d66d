/** What webpack runs on each module (plugin.ts). */
import { capture } from './capture.ts';
import type { SourceMap } from './insertions.ts';

interface LoaderContext {
  resourcePath: string;
  callback(error: null, code: string, map?: SourceMap): void;
}

export default function load(this: LoaderContext, code: string, map?: SourceMap): void {
  const captured = capture(code, map?.mappings ? map : undefined);
  if (captured)
    this.callback(
      null,
      captured.code,
      map?.mappings ? captured.map : { ...captured.map, sources: [this.resourcePath] },
    );
  else this.callback(null, code, map);
}
