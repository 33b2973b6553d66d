/** Lowers statements of the integrand language, by a table with the names of acorn's nodes. */
import type { AnyNode, Statement as Node, VariableDeclaration } from 'acorn';
import { declaredNames } from '../free-names.ts';
import type { Id } from '../ir.ts';
import { elementAt, iterated, nextOf } from './arrays.ts';
import { closure, condition, lowerExpression } from './expressions.ts';
import type { Target } from './flow.ts';
import type { Env, LoopTargets, Lowering } from './lowering.ts';
import { assignPattern, bindPattern } from './patterns.ts';
import { rare } from './rarely-used.ts';
import { returned } from './results.ts';
import { isCoverageCounter } from './toolchains.ts';
import { type FunctionNode, isArray, Names, type Val } from './values.ts';

/** Limits of unrolling. A loop that exceeds one of them stays a loop. */
const MAX_UNROLLED_TURNS = 64; // of the loop itself
const MAX_UNROLLED_NESTED_TURNS = 1500; // of the loop and the loops inside it
const MAX_UNROLLED_VALUES = 4000; // made by all its turns

type Of<T extends AnyNode['type']> = Extract<AnyNode, { type: T }>;
type Handlers = {
  [T in AnyNode['type']]?: (l: Lowering, node: Of<T>, env: Env, labels: readonly string[]) => void;
};

const STATEMENTS: Handlers = {
  EmptyStatement() {},
  ExpressionStatement(l, node, env) {
    if (node.directive || isCoverageCounter(node.expression, env.names)) return;
    lowerExpression(l, node.expression, env);
  },
  VariableDeclaration(l, node, env) {
    declareVariables(l, node, env);
  },
  FunctionDeclaration() {}, // hoisted by lowerStatements
  BlockStatement(l, node, env) {
    for (const f of node.body) {
      // outside modules such a function also replaces the outer one when the block is entered; in modules it does not
      if (f.type === 'FunctionDeclaration' && f.id && env.names.find(f.id.name)) {
        l.fail(
          env,
          f.id,
          `\`${f.id.name}\` is declared around this block as well, and JavaScript has two rules for a function in a block.`,
          `Give it another name, or write const ${f.id.name} = ….`,
        );
      }
    }
    lowerStatements(l, node.body, { ...env, names: new Names(env.names) });
  },
  ReturnStatement(l, node, env) {
    const value = node.argument ? lowerExpression(l, node.argument, env) : ({ kind: 'undefined' } as const);
    l.set(env.result!.slot, l.calls.length > 0 ? value : returned(l, value, env, node));
    l.flow.break(env.result!.target);
  },
  IfStatement(l, node, env) {
    const cond = condition(l, node.test, env);
    l.flow.if(
      cond,
      () => lowerStatement(l, node.consequent, env),
      () => node.alternate && lowerStatement(l, node.alternate, env),
    );
  },
  ForStatement(l, node, env, labels) {
    const outer = { ...env, names: new Names(env.names) };
    if (node.init?.type === 'VariableDeclaration') declareVariables(l, node.init, outer);
    else if (node.init) lowerExpression(l, node.init, outer);
    lowerLoop(
      l,
      { node, labels, test: node.test ?? null, update: node.update ?? null, body: node.body, first: 'test' },
      outer,
    );
  },
  WhileStatement(l, node, env, labels) {
    lowerLoop(
      l,
      { node, labels, test: node.test, update: null, body: node.body, first: 'test' },
      { ...env, names: new Names(env.names) },
    );
  },
  DoWhileStatement(l, node, env, labels) {
    lowerLoop(
      l,
      { node, labels, test: node.test, update: null, body: node.body, first: 'body' },
      { ...env, names: new Names(env.names) },
    );
  },
  ForOfStatement(l, node, env, labels) {
    const walked = lowerExpression(l, node.right, env);
    const array =
      walked.kind === 'filtered'
        ? walked.values
        : walked.kind === 'iterator'
          ? iterated(l, walked, env, node.right)
          : walked;
    if (!isArray(array))
      return l.fail(
        env,
        node.right,
        'Only an array can be walked with `for … of`.',
        'Use the point, a local array or an array of params.',
      );
    const { left } = node;
    const names = new Names(env.names);
    names.declare('#i', l.flow.slot(l.literal(0))); // no identifier has this name
    const plain = { start: node.start, end: node.end };
    const i = { ...plain, type: 'Identifier', name: '#i' } as AnyNode;
    lowerLoop(
      l,
      {
        node,
        labels,
        test: {
          ...plain,
          type: 'BinaryExpression',
          operator: '<',
          left: i,
          right: { ...plain, type: 'Literal', value: array.length },
        } as AnyNode,
        update: { ...plain, type: 'UpdateExpression', operator: '++', argument: i, prefix: true } as AnyNode,
        body: node.body,
        first: 'test',
        start(inner) {
          const at = lowerExpression(l, i, inner);
          if (walked.kind === 'filtered')
            l.flow.if(
              rare(l, inner, node.right).isKept(l, walked, at, inner, node.right),
              () => {},
              () => l.flow.break(inner.loops!.continue!),
            );
          if (l.flow.dead) return;
          const value =
            walked.kind === 'iterator'
              ? nextOf(l, walked, at, inner, node.right)
              : elementAt(l, array, at, inner, node.right);
          if (left.type === 'VariableDeclaration')
            bindPattern(l, left.declarations[0].id, value, inner, left.kind === 'const', left.kind === 'var');
          else assignPattern(l, left, value, inner);
        },
      },
      { ...env, names },
    );
  },
  LabeledStatement(l, node, env, outer) {
    const labels = [...outer, node.label.name];
    if (/^(For|While|DoWhile|Labeled)/.test(node.body.type)) return lowerStatement(l, node.body, env, labels);
    l.flow.block(target => {
      const loops: LoopTargets = { labels, break: target, continue: null, outer: env.loops };
      lowerStatement(l, node.body, { ...env, loops });
    });
  },
  BreakStatement(l, node, env) {
    l.flow.break(findLoop(env, node.label?.name ?? null, 'break')!.break);
  },
  ContinueStatement(l, node, env) {
    l.flow.break(findLoop(env, node.label?.name ?? null, 'continue')!.continue!);
  },
};

export function lowerStatement(
  l: Lowering,
  node: Node | AnyNode,
  env: Env,
  labels: readonly string[] = [],
): void {
  l.step(env, node);
  const lower = STATEMENTS[node.type] as
    | ((l: Lowering, node: AnyNode, env: Env, labels: readonly string[]) => void)
    | undefined;
  if (lower) return lower(l, node, env, labels);
  rare(l, env, node as AnyNode).refuseNode(l, node, env);
}

export function lowerStatements(l: Lowering, list: readonly AnyNode[], env: Env): void {
  for (const node of list) {
    if (node.type === 'VariableDeclaration' && node.kind !== 'var')
      for (const name of declaredNames(node)) env.names.declare(name, l.flow.slot(EARLY));
    if (node.type === 'FunctionDeclaration' && node.id)
      env.names.declare(node.id.name, l.flow.slot(closure(l, node as FunctionNode, env)));
  }
  for (const node of list) {
    if (l.flow.dead) return;
    lowerStatement(l, node, env);
  }
}

/** A variable of a block before its declaration: JavaScript throws where it is used. */
const EARLY: Val = { kind: 'unsettled', why: 'that is declared only later', early: true };

function declareVariables(l: Lowering, node: VariableDeclaration, env: Env): void {
  for (const d of node.declarations) {
    const isVar = node.kind === 'var';
    if (!d.init) {
      // `var x;` keeps the value that x has; `let x;` starts undefined
      if (d.id.type === 'Identifier' && !isVar)
        env.names.declare(d.id.name, l.flow.slot({ kind: 'undefined' }));
      continue;
    }
    const name = d.id.type === 'Identifier' ? d.id.name : '';
    bindPattern(l, d.id, lowerExpression(l, d.init, env, name), env, node.kind === 'const', isVar);
  }
}

interface Loop {
  node: AnyNode;
  labels: readonly string[];
  test: AnyNode | null;
  update: AnyNode | null;
  body: AnyNode;
  first: 'test' | 'body';
  /** Runs at the start of each turn. */
  start?: (env: Env) => void;
}

function lowerLoop(l: Lowering, loop: Loop, env: Env): void {
  const { flow, builder } = l;
  const site = l.site(env, loop.node);
  const test = (names: Names) => {
    if (!loop.test) return builder.constant(true);
    return condition(l, loop.test, { ...env, names });
  };
  /** Lowers the body and the update; returns the names of the next turn. */
  const turn = (leave: Target, names: Names): Names => {
    flow.block(next => {
      const inner: Env = {
        ...env,
        names: new Names(names),
        loops: { labels: loop.labels, break: leave, continue: next, outer: env.loops },
      };
      loop.start?.(inner);
      if (!flow.dead) lowerStatement(l, loop.body, inner);
    });
    if (flow.dead) return names;
    const next = freshNames(l, names); // before the update: closures of this turn do not see it
    if (loop.update) lowerExpression(l, loop.update, { ...env, names: next });
    return next;
  };
  flow.block(leave => {
    let names = freshNames(l, env.names);
    let skipTest = loop.first === 'body';
    const endless = loop.test === null || (loop.test.type === 'Literal' && loop.test.value);
    if (!l.decisions.rolled.has(site) && !endless) {
      const [size, before] = [builder.size, l.turns];
      const entry = { names, skipTest };
      let over = false;
      const unrolls = l.attempt([leave, ...targetsOf(env)], () => {
        for (let turns = 0; ; turns++) {
          const goes = skipTest || tryTest(l, () => test(names));
          if (goes === undefined) return true; // the outcome is no longer known: the remaining turns are a loop
          over = !goes || flow.dead;
          if (over) return true;
          const tooMany = turns === MAX_UNROLLED_TURNS || l.turns++ - before > MAX_UNROLLED_NESTED_TURNS;
          if (tooMany || builder.size - size > MAX_UNROLLED_VALUES) return false;
          skipTest = false;
          names = turn(leave, names);
          over = flow.dead;
          if (over) return true;
        }
      });
      if (over) return;
      if (!unrolls) {
        l.decisions.rolled.add(site);
        ({ names, skipTest } = entry);
      }
    }
    const ends = flow.loop(out => {
      const own = freshNames(l, names);
      const goOn = (at: Names) =>
        flow.if(
          test(at),
          () => {},
          () => flow.break(out),
        );
      if (!skipTest) goOn(own);
      if (flow.dead) return;
      const next = turn(out, own);
      if (flow.dead) return;
      for (const [name, { slot }] of names.own()) l.set(slot, l.get(next.find(name)!.slot));
      if (skipTest) goOn(names);
    });
    if (!ends)
      l.fail(
        env,
        loop.node,
        'This loop never ends.',
        'Give it a condition that becomes false, or a `break`.',
      );
  });
}

/** Where a `break`, `continue` or `return` at this place may lead. */
function targetsOf(env: Env): Target[] {
  const targets = env.result ? [env.result.target] : [];
  for (let loop = env.loops; loop; loop = loop.outer)
    targets.push(loop.break, ...(loop.continue ? [loop.continue] : []));
  return targets;
}

/** The outcome of a loop's test. If it is not known when compiling: undefined, and the test's effects are undone. */
function tryTest({ flow, builder }: Lowering, test: () => Id): boolean | undefined {
  const before = flow.state.copy();
  builder.open();
  const goes = builder.constantOf(test()) as boolean | undefined;
  const trial = builder.close();
  if (goes === undefined) flow.state = before;
  else builder.splice(trial);
  return goes;
}

/** The loop's own variables copied to new slots: each turn has its own copies, which closures may capture. */
function freshNames(l: Lowering, names: Names): Names {
  const fresh = new Names(names.parent);
  for (const [name, { slot, constant }] of names.own())
    fresh.declare(name, constant ? slot : l.flow.slot(l.get(slot)), constant);
  return fresh;
}

function findLoop(env: Env, label: string | null, what: 'break' | 'continue'): LoopTargets | null {
  for (let loop = env.loops; loop; loop = loop.outer) {
    if (label ? loop.labels.includes(label) : loop.continue)
      if (what === 'break' || loop.continue) return loop;
  }
  return null; // unreachable: the parser refuses a break or continue without a target
}
