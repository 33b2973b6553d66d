/** Types of TypeScript, replaced by spaces: what remains stands where it stood. */
import * as nodeModule from 'node:module';

/** Node has it from 22.13 on. */
const { stripTypeScriptTypes } = nodeModule as { stripTypeScriptTypes?: (text: string) => string };

/** The text without its types; undefined where Node cannot do that, or where more than types would have to go (enums, JSX). */
export function stripTypes(text: string): string | undefined {
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {}; // Node says once that this is experimental, which nobody who integrates can act upon
    return stripTypeScriptTypes?.(text);
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
