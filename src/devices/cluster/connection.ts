/**
 * A connection to a NATS server, and what can be wrong with it: each fault is told with its remedy, within 3 seconds. The
 * packages of NATS are loaded when they are asked for; who does not use clusters need not install them. A page hands them over, since
 * only its bundler can find them.
 */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { DeviceError } from '../device.ts';
import { ACK_WAIT_MS, jobsOf, MAX_DELIVER, MAX_JOB, STREAM } from './protocol.ts';
import { noteReconnection } from './requests.ts';

/** What is wrong with a cluster: its server, its rights, its workers. */
export class ClusterError extends DeviceError {
  override name = 'ClusterError';
}

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
  /** Subjects that the server has refused to this user. */
  refused: Set<string>;
  close(): Promise<void>;
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
  const refused = new Set<string>();
  void watch(nc, refused);
  return {
    nc,
    nats,
    jetstream,
    server,
    warnings: warningsOf(
      first,
      !!tls || first.startsWith('wss:'),
      'authenticator' in login || 'user' in login || 'token' in login,
    ),
    refused,
    close: () => nc.close(),
  };
}

/** A server tells that it refuses a subject in a status only: requests would wait for an answer until they time out. */
async function watch(nc: NatsConnection, refused: Set<string>): Promise<void> {
  for await (const s of nc.status()) {
    if (s.type === 'reconnect') noteReconnection(nc);
    const subject = s.type === 'error' && (s.error as { subject?: string }).subject;
    if (subject) refused.add(subject);
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
    if (!stream)
      await manager.streams.add({
        name: STREAM,
        subjects: ['quadrille.job.>'],
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

function queueError(
  e: Error & { code?: number },
  server: string,
  refused: ReadonlySet<string>,
): ClusterError {
  const api = [...refused].find(s => s.startsWith('$JS'));
  if (api)
    return new ClusterError(
      `this user of ${server} may not publish to ${api}; docs/cluster.md lists the rights of coordinators and workers`,
    );
  if (e.name === 'JetStreamNotEnabled' || e.code === 10039 || /no responders|not enabled/i.test(e.message))
    return new ClusterError(
      `the server at ${server} has no JetStream; start it with nats-server -js, or enable JetStream for this account`,
    );
  return new ClusterError(`the server at ${server} does not open a stream: ${e.message}`);
}
