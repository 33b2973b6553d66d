/**
 * A connection to a NATS server, and what can be wrong with it: each fault is told with its remedy, within 3 seconds. The
 * packages of NATS are loaded when they are asked for; who does not use clusters need not install them. A page hands them over, since
 * only its bundler can find them.
 */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ClusterError } from './cluster-error.ts';
import { ACK_WAIT_MS, FRAME, jobsOf, MAX_DELIVER, MAX_JOB, STREAM } from './protocol.ts';
import { noteReconnection } from './requests.ts';
import { type Refusal, refusalError, refusalOf } from './rights.ts';

export interface ServerOptions {
  /** One server, or several of one cluster of servers: `nats://host:4222`, `tls://host`, `wss://host`. */
  servers: string | readonly string[];
  /** The text of a credentials file of NATS, or the seed of an nkey; `user:password` and tokens stand in the URL. */
  credentials?: string | undefined;
  /** What TLS needs; `true` where the system's certificates will do. */
  tls?: boolean | { ca?: string; cert?: string; key?: string } | undefined;
  /** For pages: the packages `@nats-io/nats-core` and `@nats-io/jetstream`. */
  packages?: NatsPackages | undefined;
}

/** Packages of NATS that somebody has loaded. */
export interface NatsPackages {
  core: object;
  jetstream: object;
}

/** Milliseconds to wait for an answer of the server before something is wrong; with the start of Node, less than 3 s. */
const PATIENCE_MS = 2000;

/** Bytes of a message that the server has to take: a frame with its head. The default of NATS is 1 MB. */
const MIN_PAYLOAD = FRAME + MAX_JOB;

type Nats = typeof import('@nats-io/transport-node');
type JetStream = typeof import('@nats-io/jetstream');

function loadPackages(given: NatsPackages | undefined): { nats: Nats; jetstream: JetStream } {
  if (given) return { nats: given.core as Nats, jetstream: given.jetstream as JetStream };
  if (typeof process !== 'object')
    throw new ClusterError(
      "in a page, hand the packages over: cluster({ servers, packages: { core: await import('@nats-io/nats-core'), jetstream: await import('@nats-io/jetstream') } })",
    );
  try {
    // not imported: bundlers would look for packages that need not be there
    const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
    return { nats: require('@nats-io/transport-node'), jetstream: require('@nats-io/jetstream') };
  } catch (e) {
    throw new ClusterError(
      `clusters need packages that are not installed; run npm install @nats-io/transport-node@3.3.1 @nats-io/jetstream@3.3.1 (${(e as Error).message.split('\n')[0]})`,
    );
  }
}

export interface Connected {
  nc: NatsConnection;
  nats: Nats;
  jetstream: JetStream;
  /** The server as people write it, without passwords. */
  server: string;
  /** What a result should tell of the connection. */
  warnings: string[];
  /** What the server has refused to this user. */
  refused: Refusal[];
  /** Told what happens to the connection; who wants to know puts functions into it. */
  readonly listener: ConnectionListener;
  close(): Promise<void>;
}

export interface ConnectionListener {
  refused?(refusal: Refusal): void;
  /** The server is out of reach; the client tries to reach it again until it is closed. */
  lost?(): void;
  back?(): void;
}

export async function connect(options: ServerOptions, name: string): Promise<Connected> {
  const { nats, jetstream } = loadPackages(options.packages);
  const servers = [options.servers].flat() as string[];
  const [first] = servers;
  const server = withoutSecrets(first);
  const login = loginOf(nats, options, first);
  const web = WEB.test(first);
  if (web) checkWebSocket(server);
  const tls = typeof options.tls === 'object' ? options.tls : (options.tls || first.startsWith('tls:')) && {};
  let nc: NatsConnection;
  try {
    const open = web ? nats.wsconnect : nats.connect;
    nc = await open({
      servers: servers.map(web ? withoutSecrets : hostOf),
      ...login,
      ...(tls && !web && { tls }),
      name,
      timeout: PATIENCE_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 100,
      pingInterval: 10_000,
      ignoreAuthErrorAbort: true,
    });
  } catch (e) {
    throw connectError(e as Error, server);
  }
  const most = nc.info?.max_payload ?? Infinity;
  if (most < MIN_PAYLOAD) {
    await nc.close();
    throw new ClusterError(
      `the server at ${server} takes messages of ${most} bytes at most, and a cluster needs ${MIN_PAYLOAD}; write max_payload: 1MB into its configuration, which is the default`,
    );
  }
  const connected: Connected = {
    nc,
    nats,
    jetstream,
    server,
    warnings: warningsOf(
      first,
      !!tls || first.startsWith('wss:'),
      'authenticator' in login || 'user' in login || 'token' in login,
    ),
    refused: [],
    listener: {},
    close: () => nc.close(),
  };
  void watch(connected);
  return connected;
}

async function watch({ nc, refused, listener: told }: Connected): Promise<void> {
  for await (const s of nc.status()) {
    if (s.type === 'disconnect') told.lost?.();
    if (s.type === 'reconnect') {
      noteReconnection(nc);
      told.back?.();
    }
    const refusal = refusalOf(s);
    if (!refusal) continue;
    refused.push(refusal);
    told.refused?.(refusal);
  }
}

/** Over WebSocket, as pages have to. */
const WEB = /^wss?:/;

/** Without one, the client would wait for ever. */
function checkWebSocket(server: string): void {
  if (typeof WebSocket === 'undefined')
    throw new ClusterError(
      `this Node has no WebSocket, which ${server} needs; use a nats:// or tls:// URL, or Node 22 or later`,
    );
}

function connectError(e: Error, server: string): ClusterError {
  const text = `${e.message} ${(e.cause as Error | undefined)?.message ?? ''}`;
  if (/authorization|authentication|credentials|nkey/i.test(text))
    return new ClusterError(
      `the server at ${server} refuses this user; give credentials (a URL with user:password@, or the file that QUADRILLE_CREDENTIALS names)`,
    );
  if (/tls|certificate|ssl|self-signed/i.test(text))
    return new ClusterError(
      `there is no TLS connection with ${server}: ${e.message}; use a tls:// URL, and name the certificate of the authority in QUADRILLE_TLS_CA`,
    );
  const how = WEB.test(server)
    ? 'its configuration needs websocket { port: … }'
    : 'start one with nats-server -js, or quadrille cluster to try it out';
  return new ClusterError(`no NATS server answers at ${server} (${e.message}); ${how}`);
}

const LOOPBACK = /^(localhost|127\.|\[::1\]|::1)/;

function warningsOf(url: string, tls: boolean, login: boolean): string[] {
  const { hostname } = new URL(url);
  if (LOOPBACK.test(hostname)) return [];
  const missing = [...(tls ? [] : ['TLS']), ...(login ? [] : ['credentials'])];
  if (missing.length === 0) return [];
  return [
    `THE CONNECTION TO ${hostname} HAS NO ${missing.join(' AND NO ')}: whoever reaches that server, or the network between, can read the integrand and change the result; docs/cluster.md has a configuration`,
  ];
}

/** Host and port; the scheme and the login are options of their own. */
function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return port ? `${hostname}:${port}` : hostname;
}

/** A URL as it may be shown. */
export function withoutSecrets(url: string): string {
  const { protocol } = new URL(url);
  return `${protocol}//${hostOf(url)}`;
}

function loginOf(nats: Nats, { credentials }: ServerOptions, url: string): object {
  const { username, password } = new URL(url);
  const bytes = (text: string) => new TextEncoder().encode(text);
  if (credentials !== undefined) {
    const seed = credentials.trim();
    if (isSeed(nats, bytes(seed))) return { authenticator: nats.nkeyAuthenticator(bytes(seed)) };
    if (/BEGIN NATS USER JWT/.test(credentials))
      return { authenticator: nats.credsAuthenticator(bytes(credentials)) };
    throw new ClusterError(
      'there are credentials that are none; pass the text of a credentials file of NATS, or the seed of an nkey, which begins with SU',
    );
  }
  if (username && password) return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return username ? { token: decodeURIComponent(username) } : {};
}

function isSeed(nats: Nats, bytes: Uint8Array): boolean {
  try {
    nats.nkeys.fromSeed(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Login and certificates of a process, which URLs do not have: QUADRILLE_CREDENTIALS and QUADRILLE_TLS_CA name files. */
export function optionsFromEnvironment(servers: string): ServerOptions {
  const { QUADRILLE_CREDENTIALS: credentials, QUADRILLE_TLS_CA: ca } = process.env;
  const read = (file: string, name: string) => {
    try {
      return process.getBuiltinModule('node:fs').readFileSync(file, 'utf8');
    } catch (e) {
      throw new ClusterError(`${name} names a file that cannot be read: ${(e as Error).message}`);
    }
  };
  return {
    servers,
    ...(credentials && { credentials: read(credentials, 'QUADRILLE_CREDENTIALS') }),
    ...(ca && { tls: { ca: read(ca, 'QUADRILLE_TLS_CA') } }),
  };
}

export interface Queue {
  js: JetStreamClient;
  manager: JetStreamManager;
}

/** The subjects of all jobs. */
const JOBS = 'quadrille.job.>';

/** JetStream with the stream of jobs and the consumer of a queue, which are made where they are missing. */
export async function openQueue(connected: Connected, queue: string): Promise<Queue> {
  const { nc, jetstream, server, refused } = connected;
  const { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } = jetstream;
  try {
    const manager = await jetstream.jetstreamManager(nc, { timeout: PATIENCE_MS, checkAPI: false });
    const stream = await manager.streams.info(STREAM).catch(e => {
      if (isMissing(e)) return null;
      throw e;
    });
    if (stream) checkStream(stream.config, server);
    else
      await manager.streams.add({
        name: STREAM,
        subjects: [JOBS],
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        discard: DiscardPolicy.New,
        max_msgs: 1_000_000,
        max_msg_size: 2 * MAX_JOB,
        // nobody waits for a job of yesterday: a last resort against jobs of coordinators that died
        max_age: 24 * 3600 * 1e9,
      });
    const consumer = await manager.consumers.info(STREAM, queue).catch(e => {
      if (isMissing(e)) return null;
      throw e;
    });
    if (!consumer)
      await manager.consumers.add(STREAM, {
        durable_name: queue,
        filter_subject: jobsOf(queue),
        ack_policy: AckPolicy.Explicit,
        ack_wait: ACK_WAIT_MS * 1e6,
        max_deliver: MAX_DELIVER,
        max_ack_pending: 100_000,
        max_waiting: 20_000,
      });
    return { js: manager.jetstream(), manager };
  } catch (e) {
    throw queueError(e as Error, server, refused);
  }
}

/** Why finished tasks cannot be kept. */
export const runsError = (e: Error, { server, refused }: Connected): ClusterError =>
  queueError(e, server, refused);

/** The client says "jetstream is not enabled" of a missing stream as well; the server's codes are reliable. */
const isMissing = ({ code }: { code?: number }): boolean => code === 10059 || code === 10014;

function queueError(e: Error & { code?: number }, server: string, refused: readonly Refusal[]): ClusterError {
  if (e instanceof ClusterError) return e;
  const api = refused.find(r => r.subject.startsWith('$JS'));
  if (api) return refusalError(server, api, 'coordinators and workers');
  if (e.name === 'JetStreamNotEnabled' || e.code === 10039 || /no responders|not enabled/i.test(e.message))
    return new ClusterError(
      `the server at ${server} has no JetStream; start it with nats-server -js, or enable JetStream for this account`,
    );
  if (/timeout|closed|disconnect/i.test(`${e.name} ${e.message}`))
    return new ClusterError(
      `the server at ${server} does not answer any more (${e.message}); start it again, and run again`,
    );
  const remedy = e.code === OVERLAP ? `; ${STREAMS_OF_OTHERS}` : '';
  return new ClusterError(`the server at ${server} does not open a stream: ${e.message}${remedy}`);
}

/** The server's code for a stream whose subjects another stream has. */
const OVERLAP = 10065;
const STREAMS_OF_OTHERS =
  'nats stream ls shows the streams of this account: the subjects quadrille.job.> and quadrille.sums.> have to be free for those of Quadrille';

/** Somebody may have made a stream of that name for something else. */
function checkStream(
  { retention, subjects }: { retention: string; subjects: string[] },
  server: string,
): void {
  if (retention === 'workqueue' && subjects.includes(JOBS)) return;
  throw new ClusterError(
    `the server at ${server} has a stream ${STREAM} that is no queue of jobs; remove it with nats stream rm ${STREAM}, and run again: it is made when it is missing`,
  );
}
