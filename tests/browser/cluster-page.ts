/** A page that shares an integral among the workers of a cluster; tests/cluster/page.test.ts opens it. */
import { type ClusterOptions, cluster, integrate, scan } from 'quadrille';

export interface SharedInPage {
  integral: object;
  device: string;
  scanned: object[];
}

export const problem = { dims: 3, method: 'vegas+', relTol: 1e-9, maxEvaluations: 1e6 } as const;
export const f = ([x, y, z]: number[]) => Math.exp(-3 * x * y) * Math.sin(5 * z + x);
export const params = Array.from({ length: 20 }, (_, i) => ({ a: 1 + i / 8 }));
export const g = ([x]: number[], p: { a: number }) => Math.exp(-p.a * x);

async function run(servers: string, withPackages: boolean): Promise<SharedInPage> {
  const packages = withPackages && {
    core: await import('@nats-io/nats-core'),
    jetstream: await import('@nats-io/jetstream'),
  };
  const device = cluster({ servers, ...(packages && { packages }) } as ClusterOptions);
  try {
    const { value, error, evaluations, device: where } = await integrate(f, { ...problem, device });
    const found = await scan(g, { dims: 1, params, device });
    return { integral: { value, error, evaluations }, device: where, scanned: found.map(r => ({ ...r })) };
  } finally {
    await device.close();
  }
}

if (typeof document === 'object') Object.assign(globalThis, { run });
