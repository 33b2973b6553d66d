/** Which modules are those of a project: files, none of a package, none that a bundler made up. */

export const MODULE: RegExp = /\.[cm]?[jt]sx?$/;

export function isOfProject(id: string): boolean {
  const [file] = id.split('?');
  return MODULE.test(file) && !file.includes('\0') && !/[\\/]node_modules[\\/]/.test(file);
}
