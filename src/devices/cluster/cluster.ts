/** The cluster as a device: workers on many machines, reached through a NATS server. */
import type { BoundProgram } from '../../integrand/bound.ts';
import { OptionError } from '../../options/option-error.ts';
import { CpuDevice } from '../cpu/cpu.ts';
import type { Device, OpenOptions, Session } from '../device.ts';
import type { Coordinator } from './coordinator.ts';
import { isServer } from './server-url.ts';

/** How to reach a cluster. */
export interface ClusterOptions {
  /** The NATS server, or several that form one cluster: `nats://host:4222`, `tls://host`; over WebSocket `wss://host`. */
  servers: string | readonly string[];
  /** The text of a credentials file of NATS, or the seed of an nkey. A password or a token can stand in the URL. */
  credentials?: string;
  /** What TLS needs: the texts of certificates in PEM; `true` where the certificates of the system will do. */
  tls?: boolean | { ca?: string; cert?: string; key?: string };
  /** The kind of devices that do the work, `cpu` or `cuda`. Default: the kind that most workers have. */
  kind?: string;
  /**
   * A name for the run, of letters, digits, - and _; in a URL it stands behind the host, `nats://host/name`. The sums of finished
   * iterations are then kept on the server: if this process dies, or the run is aborted or fails, a run of the same integral and
   * name goes on where it stopped, with the same bits. They are removed when the device is closed after a run that came to its end.
   * Default: none, and nothing is kept.
   */
  run?: string;
  /**
   * For pages, whose bundlers find packages only where they are imported:
   * `{ core: await import('@nats-io/nats-core'), jetstream: await import('@nats-io/jetstream') }`. Node finds them itself.
   */
  packages?: { core: object; jetstream: object };
}

const NAME_OF_RUN = /^[\w-]{1,64}$/;

/**
 * A device for `integrate` and `scan`: the workers that listen to a NATS server, which `quadrille worker` starts. The result
 * has the bits of one machine with their kind of device, for any number of workers. Close it after use. Pages need a `wss://` URL and `packages`.
 */
export function cluster(options: ClusterOptions): Device {
  const servers = [options?.servers].flat();
  if (servers.length === 0 || !servers.every(isServer))
    throw new OptionError(
      'servers',
      options?.servers,
      "pass a URL, such as 'nats://host:4222'",
      undefined,
      'cluster',
    );
  const run = options.run ?? new URL(servers[0] as string).pathname.slice(1);
  if (run && !NAME_OF_RUN.test(run))
    throw new OptionError('run', run, 'use letters, digits, - and _', undefined, 'cluster');
  return new ClusterDevice(options, run);
}

class ClusterDevice implements Device {
  readonly name: string;
  readonly solvesIntegrals = true;
  readonly #options: ClusterOptions;
  #opening: Promise<Coordinator> | null = null;
  #opened: Coordinator | null = null;
  #small: Device | null = null;
  #closed = false;

  constructor(options: ClusterOptions, run: string) {
    this.#options = { ...options, run };
    const { protocol, host } = new URL([options.servers].flat()[0] as string);
    this.name = `${protocol}//${host}`;
  }

  /** Known from the workers, once they were asked. */
  get kind(): string {
    return this.#opened?.kind ?? this.#options.kind ?? 'cpu';
  }

  get epsilon(): number {
    return this.#opened?.epsilon ?? 2 ** -53;
  }

  async prepare(): Promise<void> {
    await this.#coordinator();
  }

  async open(program: BoundProgram, options?: OpenOptions): Promise<Session> {
    const coordinator = await this.#coordinator();
    const { ClusterSession } = await import('./session.ts');
    const here = coordinator.kind === 'cpu' ? await this.#here(program, options) : null;
    return new ClusterSession(coordinator, this.name, program, here, !!options?.shared);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.then(
      c => c.close(),
      () => {},
    );
    await this.#small?.close();
  }

  async #coordinator(): Promise<Coordinator> {
    if (this.#closed) throw new Error(`the device ${this.name} is closed; open a new one`);
    this.#opening ??= this.#connect();
    try {
      return await this.#opening;
    } catch (e) {
      this.#opening = null; // a worker may be started meanwhile
      throw e;
    }
  }

  async #connect(): Promise<Coordinator> {
    const { Coordinator } = await import('./coordinator.ts');
    this.#opened = await Coordinator.open(this.#options, this.#options.kind, this.#options.run);
    return this.#opened;
  }

  /** For small tasks: a CPU gives the bits of any other. */
  async #here(program: BoundProgram, options?: OpenOptions): Promise<Session> {
    this.#small ??= new CpuDevice(1);
    return this.#small.open(program, options);
  }
}
