// Writes docs/api.md from the doc comments of what src/index.ts and src/plugin/plugin.ts export: node scripts/api.mjs [--print].
// With --print it goes to the standard output instead.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const PAGE = 'docs/api.md';
const MODULES = ['src/index.ts', 'src/plugin/plugin.ts'].map(file => resolve(file));

/** The chapters, and what is in them; an export that is in none is an error. */
const CHAPTERS = [
  ['Functions', ['integrate', 'scan', 'sample', 'table', 'compile', 'devices', 'cluster']],
  [
    'Integrands and params',
    [
      'IntegrandOf',
      'Point',
      'ParamsOf',
      'NoParams',
      'Integrand',
      'Returned',
      'ResultShape',
      'ResultValue',
      'Shape',
      'SpecialFunctions',
      'Params',
      'Table',
      'TableOptions',
    ],
  ],
  [
    'Options',
    [
      'IntegrateOptions',
      'Where',
      'CommonOptions',
      'DeviceFor',
      'ScanOptions',
      'CommonScanOptions',
      'SampleOptions',
      'CommonSampleOptions',
      'HistogramOptions',
      'VegasOptions',
      'CubatureOptions',
      'LatticeOptions',
      'ZmcOptions',
      'ClusterOptions',
      'Progress',
    ],
  ],
  [
    'Results',
    [
      'Result',
      'OfResults',
      'ResultName',
      'Status',
      'IterationRecord',
      'State',
      'Samples',
      'Histogram',
      'DeviceInfo',
    ],
  ],
  [
    'Domains',
    [
      'simplex',
      'ball',
      'sphere',
      'DomainOption',
      'DomainPart',
      'Range',
      'RangeOptions',
      'BoundsFunction',
      'DomainShape',
      'ShapeOptions',
    ],
  ],
  ['Compiled integrands', ['CompileOptions', 'Compiled']],
  ['Errors', ['OptionError', 'IntegrandError', 'DeviceError']],
  [
    'The plugin, quadrille/plugin',
    ['vite', 'rollup', 'esbuild', 'webpack', 'RollupPlugin', 'EsbuildPlugin', 'WebpackPlugin'],
  ],
  [
    'Devices of your own',
    [
      'Device',
      'Session',
      'OpenOptions',
      'samplePoints',
      'regionPoints',
      'witnessPoints',
      'evaluatorOf',
      'EvaluatePoints',
    ],
  ],
  ['Programs', ['BoundProgram', 'CompiledProgram', 'PlainProgram']],
  [
    'Tasks and sums',
    [
      ...[
        'Part',
        'NonFinite',
        'Kept',
        'SampleTask',
        'LatticePoints',
        'LatticeWords',
        'Adapt',
        'AxisMap',
        'Counts',
        'CountsWindow',
        'PartSums',
        'CubeSums',
        'SampleSums',
      ],
      ...[
        'RegionTask',
        'WitnessTask',
        'RuleName',
        'Ranges',
        'RegionSums',
        'WitnessSums',
        'IntegralList',
        'SolvedIntegral',
        'ResultMembers',
        'Neighbours',
        'Learning',
        'Refinement',
      ],
      ...['PoolTask', 'RegionPool', 'PoolSums', 'PoolStep', 'Tolerance'],
    ],
  ],
];

/** Where a member was listed: what an interface takes over from another one is not listed again. */
const listed = new Map();

const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
const program = ts.createProgram(MODULES, options);
const checker = program.getTypeChecker();
const exported = new Map(
  MODULES.flatMap(file =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))),
  ).map(s => [s.name, s.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(s) : s]),
);

const known = CHAPTERS.flatMap(([, names]) => names);
const forgotten = [...exported.keys()].filter(name => !known.includes(name));
if (forgotten.length > 0)
  throw new Error(`api: ${forgotten.join(', ')} is in no chapter; name it in scripts/api.mjs`);

const parts = [
  '# API reference',
  'What `quadrille` and `quadrille/plugin` export, from their doc comments. `node scripts/api.mjs` writes this page; edit the comments in `src/`, not it.',
  ...CHAPTERS.flatMap(([chapter, names]) => [`## ${chapter}`, ...names.flatMap(entryOf)]),
];
const text = `${parts.filter(Boolean).join('\n\n')}\n`;
if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(PAGE, text);

function entryOf(name) {
  const symbol = exported.get(name);
  if (!symbol) throw new Error(`api: neither src/index.ts nor src/plugin/plugin.ts exports ${name}`);
  const { flags } = symbol;
  if (flags & ts.SymbolFlags.Function) return functionOf(name, symbol);
  if (flags & ts.SymbolFlags.TypeAlias) return aliasOf(name, symbol);
  return membersOf(name, symbol);
}

function functionOf(name, symbol) {
  const calls = checker.getTypeOfSymbol(symbol).getCallSignatures();
  const said = calls.map(c => textOf(c.getDocumentationComment(checker))).find(Boolean) ?? '';
  return [`### \`${name}\``, code(calls.map(c => `function ${name}${signatureText(c)};`)), said];
}

/** Of a union of objects that are made of the table of options, the objects; undefined for anything else. */
function choicesOf({ type: node }) {
  if (!/\bPick<Options/.test(node.getText())) return undefined;
  const member = symbol => {
    const type = checker.typeToString(checker.getTypeOfSymbol(symbol));
    return `${symbol.name}${symbol.flags & ts.SymbolFlags.Optional ? '?' : ''}: ${type};`;
  };
  const choices = checker.getTypeFromTypeNode(node).types;
  return choices.map(c => `{ ${checker.getPropertiesOfType(c).map(member).join(' ')} }`).join(' | ');
}

function aliasOf(name, symbol) {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const [declaration] = symbol.declarations;
  const [call] = type.getCallSignatures();
  const written = choicesOf(declaration) ?? declaration.type.getText().replace(/\/\*\*.*?\*\//gs, '');
  const shown = (call ? written : unfolded(type, written)).replace(/^\s*\|\s*/, '');
  const given = declaration.typeParameters?.map(t => t.getText()).join(', ');
  const full = given ? `${name}<${given}>` : name;
  // options are one table, whatever their type is made of
  const [, , ...members] = name.endsWith('Options') ? membersOf(name, symbol) : [];
  return [`### \`${name}\``, code([`type ${full} = ${shown};`]), docOf(symbol), ...members];
}

/** An interface or a class: a table of what can be read, then what can be called. */
function membersOf(name, symbol) {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const members = checker.getPropertiesOfType(type).filter(m => {
    const [declaration] = m.declarations ?? [];
    if (!declaration?.getSourceFile().fileName.includes('/src/')) return false; // of Error, of functions
    const internal = m.getJsDocTags(checker).some(t => t.name === 'internal');
    const overrides = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Override; // `name` of an error
    const hidden = internal || overrides || declaration.name.text.startsWith('#');
    if (!hidden && !listed.has(declaration)) listed.set(declaration, name);
    return listed.get(declaration) === name;
  });
  const rows = members.map(m => [`\`${headOf(m)}\``, cell(typeText(m)), inTable(docOf(m))]);
  const calls = type.getCallSignatures().map(c => `${name}${signatureText(c)};`);
  return [
    `### \`${name}\``,
    docOf(symbol),
    ...(calls.length > 0 ? [code(calls)] : []),
    rows.length > 0 ? tableOf([['member', 'type', ''], ...rows]) : '',
  ].filter(Boolean);
}

function headOf(member) {
  const optional = member.flags & ts.SymbolFlags.Optional ? '?' : '';
  return `${member.name}${optional}`;
}

function typeText(member) {
  const type = checker.getTypeOfSymbol(member);
  const [call] = checker.getNonNullableType(type).getCallSignatures();
  if (member.flags & ts.SymbolFlags.Method) return signatureText(call);
  // of `dims: number` in one part of a union and `dims?: undefined` in another, the first
  const declaration = member.declarations.find(d => d.type?.getText() !== 'undefined');
  const own = checker.getNonNullableType(type);
  const shown = unfolded(own, declaration.type?.getText() ?? checker.typeToString(own));
  // the checker has unions in an order of its own: the choices of an option stand as its table has them
  const choices = /choices: \[(.*?)\]/.exec(declaration.getText());
  return choices ? choices[1].replaceAll(', ', ' | ') : shown;
}

/** A union of names is shown as such, whatever it is called; anything else as it is written. */
function unfolded(type, written) {
  const named = type.isUnion() && type.types.every(t => t.isStringLiteral());
  const literal = named && !written.startsWith("'");
  return literal ? type.types.map(t => `'${t.value}'`).join(' | ') : written.replace(/\s+/g, ' ');
}

function signatureText(signature) {
  const { declaration } = signature;
  const given = declaration.typeParameters?.map(t => t.getText()).join(', ');
  const parameters = declaration.parameters.map(p => p.getText().replace(/\s+/g, ' ')).join(', ');
  return `${given ? `<${given}>` : ''}(${parameters}): ${declaration.type?.getText() ?? 'void'}`;
}

function docOf(symbol) {
  return textOf(symbol.getDocumentationComment(checker));
}

function textOf(parts) {
  return ts.displayPartsToString(parts).trim();
}

function cell(type) {
  return `\`${inTable(type.trim())}\``;
}

function inTable(text) {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|');
}

/** A table with its columns aligned, to be read as it is. */
function tableOf(rows) {
  const width = rows[0].map((_, column) => Math.max(...rows.map(r => [...r[column]].length), 3));
  const line = (cells, fill) =>
    `| ${cells.map((c, column) => c + fill.repeat(width[column] - [...c].length)).join(' | ')} |`;
  const [head, ...body] = rows;
  const empty = head.map(() => '');
  return [line(head, ' '), line(empty, '-'), ...body.map(r => line(r, ' '))].join('\n');
}

function code(lines) {
  return ['```ts', ...lines, '```'].join('\n');
}
