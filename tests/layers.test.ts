/** Who may import whom: `methods → tasks ← devices`. Reads every import of src, also of types alone and at run time. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** Folders of src that a folder may import from; `.` are the files in src itself. */
const ALLOWED: Record<string, readonly string[]> = {
  options: [],
  wasm: [],
  random: [],
  integrand: ['wasm', 'options'],
  tasks: ['integrand', 'random', 'options'],
  methods: ['tasks', 'integrand', 'random', 'options'],
  devices: ['tasks', 'integrand', 'random', 'wasm', 'options'],
  ends: ['methods', 'devices', 'tasks', 'integrand', 'random'],
  '.': ['ends', 'methods', 'devices', 'tasks', 'integrand', 'random', 'wasm', 'options'],
  plugin: ['integrand'],
  cli: ['.', 'plugin', 'methods', 'devices', 'tasks', 'integrand', 'random', 'wasm', 'options'],
};
/** What methods know of devices: the types of the contract. */
const CONTRACT = 'devices/device.ts';

/** An import or export of one file from another; paths begin in src. */
interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const folderOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.');

function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (!specifier || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return;
    found.push({ from: file, to: normalize(join(dirname(file), specifier.text)), typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node))
      add(node.moduleSpecifier, node.isTypeOnly || onlyTypes(node.exportClause));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return found;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false; // for its effects
  return clause.isTypeOnly || (!clause.name && onlyTypes(clause.namedBindings));
}

/** Whether each name in braces is one of a type. */
function onlyTypes(names: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  return !!names && 'elements' in names && names.elements.every(e => 'isTypeOnly' in e && e.isTypeOnly);
}

/** Imports that the layers do not allow. */
function wrongEdges(imports: readonly Import[]): string[] {
  return imports
    .filter(({ from, to, typeOnly }) => {
      const [own, other] = [folderOf(from), folderOf(to)];
      if (own === 'methods' && to === CONTRACT) return !typeOnly;
      return own !== other && !ALLOWED[own]?.includes(other);
    })
    .map(({ from, to, typeOnly }) => `${from} imports ${typeOnly ? 'a type of ' : ''}${to}`);
}

/** A way along the edges that ends where it began; null when there is none. */
function cycleIn(edges: readonly (readonly [string, string])[]): string | null {
  const next = new Map<string, string[]>();
  for (const [a, b] of edges) next.set(a, [...(next.get(a) ?? []), b]);
  const done = new Set<string>();
  const from = (at: string, way: readonly string[]): string | null => {
    if (way.includes(at)) return [...way.slice(way.indexOf(at)), at].join(' → ');
    if (done.has(at)) return null;
    for (const to of next.get(at) ?? []) {
      const cycle = from(to, [...way, at]);
      if (cycle) return cycle;
    }
    done.add(at);
    return null;
  };
  for (const at of next.keys()) {
    const cycle = from(at, []);
    if (cycle) return cycle;
  }
  return null;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(f => f.endsWith('.ts'));
const imports = files.flatMap(f => importsOf(f, readFileSync(join(src, f), 'utf8')));
const folderEdges = (list: readonly Import[]) =>
  list.map(i => [folderOf(i.from), folderOf(i.to)] as const).filter(([a, b]) => a !== b);
const valueEdges = (list: readonly Import[]) =>
  list.filter(i => !i.typeOnly && folderOf(i.from) === folderOf(i.to)).map(i => [i.from, i.to] as const);

/**
 * A language is recursive: an expression contains calls, a call the statements of a function, these contain expressions. The
 * functions that lower each of them call each other; nothing of them runs while modules are loaded.
 */
const RECURSIVE = [
  'calls',
  'expressions',
  'filtered',
  'methods',
  'objects',
  'patterns',
  'sort',
  'statements',
].map(f => `integrand/lower/${f}.ts`);

describe('src', () => {
  test('every import leads to a file', () => {
    expect(imports.length).toBeGreaterThan(files.length);
    expect(imports.filter(i => !files.includes(i.to))).toEqual([]);
  });
  test('a folder imports only from folders that it may know', () => {
    expect(wrongEdges(imports)).toEqual([]);
  });
  test('no cycle between folders, of types either', () => {
    expect(cycleIn(folderEdges(imports))).toBeNull();
  });
  test('no cycle of values between the files of a folder, but for the recursion of the language', () => {
    const others = valueEdges(imports).filter(edge => !edge.every(f => RECURSIVE.includes(f)));
    expect(cycleIn(others)).toBeNull();
  });
});

describe('a made-up import is found', () => {
  const wrongIn = (file: string, text: string) => wrongEdges(importsOf(file, text));
  test.each([
    ["import { vegas } from '../methods/vegas/vegas.ts';", 'methods/vegas/vegas.ts'],
    ["import '../methods/registry.ts';", 'methods/registry.ts'],
    ["export * from '../methods/method.ts';", 'methods/method.ts'],
    ["const { vegas } = await import('../methods/vegas/vegas.ts');", 'methods/vegas/vegas.ts'],
    ["import { type Run, drive } from '../methods/method.ts';", 'methods/method.ts'],
  ])('%s', (text, to) => expect(wrongIn('devices/new.ts', text)).toEqual([`devices/new.ts imports ${to}`]));
  test.each([
    "import type { Run } from '../methods/method.ts';",
    "import { type Run } from '../methods/method.ts';",
    "export type { Run } from '../methods/method.ts';",
    "let run: import('../methods/method.ts').Run;",
  ])('%s', text =>
    expect(wrongIn('devices/new.ts', text)).toEqual(['devices/new.ts imports a type of methods/method.ts']),
  );
  test('methods know the types of the contract, and nothing else of devices', () => {
    expect(wrongIn('methods/new.ts', "import type { Session } from '../devices/device.ts';")).toEqual([]);
    for (const text of [
      "import { DeviceError } from '../devices/device.ts';",
      "import type { Spread } from '../devices/spread.ts';",
    ])
      expect(wrongIn('methods/new.ts', text)).toHaveLength(1);
  });
  test('files in src know nothing of the command line, ends/ nothing of files in src; a new folder is nobody’s to know', () => {
    expect(wrongIn('new.ts', "import { main } from './cli/main.ts';")).toHaveLength(1);
    expect(wrongIn('ends/new.ts', "import { solve } from '../solve.ts';")).toHaveLength(1);
    expect(wrongIn('methods/new.ts', "import type { End } from '../ends/end-points.ts';")).toHaveLength(1);
    expect(wrongIn('tasks/new.ts', "import { x } from '../new/x.ts';")).toHaveLength(1);
    expect(wrongIn('new/x.ts', "import { plan } from '../tasks/sample.ts';")).toHaveLength(1);
  });
  test('a cycle of folders, and of files', () => {
    const back = importsOf('tasks/new.ts', "import type { Method } from '../methods/registry.ts';");
    expect(cycleIn(folderEdges([...imports, ...back]))).toMatch(/tasks → methods|methods → tasks/);
    const two = (type: string) => [
      ...importsOf('tasks/a.ts', `import ${type} { b } from './b.ts';`),
      ...importsOf('tasks/b.ts', "import { a } from './a.ts';"),
    ];
    expect(cycleIn(valueEdges(two('')))).toBe('tasks/a.ts → tasks/b.ts → tasks/a.ts');
    expect(cycleIn(valueEdges(two('type')))).toBeNull();
  });
});
