/**
 * Whole integrals of a scan on a device that is many machines. Sets of params that have the same shape share a program, and go
 * together. What does not come back, because it is too large, fails or cannot travel, is left to the scan.
 */
import type { Session } from './devices/device.ts';
import type { BoundProgram } from './integrand/bound.ts';
import type { AllOptions } from './problem.ts';
import { Result, type ResultData, seedData } from './result.ts';
import type { Neighbours } from './tasks/integrals.ts';
import { isData, travelling } from './whole-integrals.ts';

/** Integrals of one shape that are handed over together, at least: fewer are better cut into parts, if they are worth it. */
const LEAST = 16;

/** What is needed of a scan. */
export interface ScanElsewhere {
  /** The options of all integrals; of their domains, the first. */
  options: AllOptions;
  seed: bigint;
  neighbours: Neighbours;
  signal: AbortSignal | undefined;
  /** Which program an integral has. */
  shapeOf(index: number): string;
  /** The program with the params of an integral; null where the integral is not worth sending. */
  ready(index: number): Promise<BoundProgram | null>;
  /** The option `domain` of an integral that has its own. */
  domainOf(index: number): unknown;
  open(program: BoundProgram, shape: string): Promise<Session>;
  /** `vouched`: it relied on its neighbours. */
  tell(index: number, result: Result, vouched: boolean): void;
}

/** Has integrals solved elsewhere; returns those that are left. */
export async function solveElsewhere(indexes: readonly number[], scan: ScanElsewhere): Promise<number[]> {
  const solved = new Set<number>();
  const left = () => indexes.filter(index => !solved.has(index));
  const { neighbours, signal } = scan;
  const options = indexes.length < LEAST ? null : await travelling(scan.options);
  if (!options) return left();
  const at = async (index: number) => {
    const program = await scan.ready(index).catch(() => null);
    const domain = scan.domainOf(index);
    if (program?.kind !== 'compiled' || !isData(domain)) return null;
    return { program, ...(domain !== undefined && { domain }) };
  };
  for (const [shape, group] of byShape(indexes, scan)) {
    if (group.length < LEAST) continue;
    try {
      let first = null;
      for (let k = 0; k < group.length && !first; k++) first = await at(group[k]);
      if (!first) continue;
      const session = await scan.open(first.program, shape);
      await session.integrals!(
        { count: group.length, options, neighbours, at: k => at(group[k]) },
        (k, { result, elapsed, vouched }) => {
          const { description: device, warnings = [] } = session;
          const own = result as unknown as ResultData;
          const members = { ...own, device, seed: seedData(scan.seed), elapsed };
          solved.add(group[k]);
          scan.tell(group[k], new Result({ ...members, warnings: [...own.warnings, ...warnings] }), vouched);
        },
        signal,
      );
    } catch {
      // the signal was aborted, or the device fails: whoever does the rest finds out as well, and says so for each integral
    }
  }
  return left();
}

function byShape(indexes: readonly number[], scan: ScanElsewhere): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const index of indexes) {
    const shape = scan.shapeOf(index);
    const group = groups.get(shape);
    if (group) group.push(index);
    else groups.set(shape, [index]);
  }
  return groups;
}
