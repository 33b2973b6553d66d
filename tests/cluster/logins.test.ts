/** TLS, passwords, nkeys and credentials, each against a real server that asks for them, with a worker process. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ClusterOptions, cluster, integrate } from '../../src/index.ts';
import { absent, killWorkers, type Server, startServer, startWorker } from './server.ts';

/** The package that makes nkeys is one of the NATS client. */
interface KeyPair {
  getPublicKey(): string;
  getSeed(): Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}
const require = createRequire(createRequire(import.meta.url).resolve('@nats-io/transport-node'));
const nkeys = require('@nats-io/nkeys') as Record<
  'createUser' | 'createAccount' | 'createOperator',
  () => KeyPair
>;
const seedOf = (key: KeyPair) => new TextDecoder().decode(key.getSeed());

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const run = async (options: ClusterOptions) => {
  const device = cluster(options);
  try {
    return await integrate(([x, y]) => Math.exp(-x * y), {
      dims: 2,
      method: 'plain',
      maxEvaluations: 1e5,
      relTol: 0,
      vegas: { evaluations: 1e5 },
      device,
    });
  } finally {
    await device.close();
  }
};

describe.skipIf(absent)('a server that asks who is there', () => {
  let folder = '';
  let server: Server;
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-logins-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await killWorkers();
    await server?.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('an nkey: its seed in the file that QUADRILLE_CREDENTIALS names, or as an option', async () => {
    const [user, stranger] = [nkeys.createUser(), nkeys.createUser()];
    server = await startServer(`authorization { users = [ { nkey: ${user.getPublicKey()} } ] }`);
    const seed = file('user.nk', `${seedOf(user)}\n`);
    await startWorker(server.url, 'w1', 'right', { QUADRILLE_CREDENTIALS: seed });
    expect((await run({ servers: server.url, credentials: seedOf(user) })).device).toContain('parts of w1');
    await expect(run({ servers: server.url, credentials: seedOf(stranger) })).rejects.toThrow(
      /refuses this user; give credentials/,
    );
    await expect(run({ servers: server.url })).rejects.toThrow(/refuses this user; give credentials/);
    await expect(run({ servers: server.url, credentials: 'SUNONSENSE' })).rejects.toThrow(
      /credentials that are none.*seed of an nkey/,
    );
  });

  test('credentials of an account, as operators of NATS hand them out', async () => {
    const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
    // JetStream wants an account for the server itself
    const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
    const all = { subs: -1, data: -1, payload: -1 };
    const stored = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
    const noStore = { mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 };
    const accountLimits = {
      ...all,
      ...stored,
      imports: -1,
      exports: -1,
      wildcards: true,
      conn: -1,
      leaf: -1,
    };
    const ofOperator = token(operator, operator, 'operator', {});
    const ofAccount = token(operator, account, 'account', { limits: accountLimits });
    const ofUser = token(account, user, 'user', { ...all, pub: {}, sub: {} });
    const ofSystem = token(operator, system, 'account', { limits: { ...accountLimits, ...noStore } });
    server = await startServer(
      `operator: ${ofOperator}\nsystem_account: ${system.getPublicKey()}\nresolver: MEMORY\nresolver_preload: {
         ${account.getPublicKey()}: ${ofAccount}\n${system.getPublicKey()}: ${ofSystem} }`,
    );
    const text = `-----BEGIN NATS USER JWT-----\n${ofUser}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seedOf(user)}\n------END USER NKEY SEED------\n`;
    const QUADRILLE_CREDENTIALS = file('user.creds', text);
    await startWorker(server.url, 'w1', 'right', { QUADRILLE_CREDENTIALS });
    expect((await run({ servers: server.url, credentials: text })).device).toContain('parts of w1');
    // by name, with the file
    vi.stubEnv('QUADRILLE_CREDENTIALS', QUADRILLE_CREDENTIALS);
    const named = await integrate(([x]) => x, { dims: 1, maxEvaluations: 2e4, device: server.url });
    expect(named.status).toBe('converged');
    vi.stubEnv('QUADRILLE_CREDENTIALS', '/no/such/file');
    await expect(integrate(([x]) => x, { dims: 1, device: server.url })).rejects.toThrow(
      /QUADRILLE_CREDENTIALS names a file that cannot be read/,
    );
  });

  test.skipIf(!hasOpenssl)(
    'TLS: with the right authority only, and with a certificate of the client',
    async () => {
      const { ca, cert, key } = certificates(folder);
      const [certFile, keyFile, caFile] = [file('cert.pem', cert), file('key.pem', key), file('ca.pem', ca)];
      const tls = `cert_file: "${certFile}", key_file: "${keyFile}"`;
      server = await startServer(`tls { ${tls} }`);
      const url = server.url.replace('nats:', 'tls:');
      await startWorker(url, 'w1', 'right', { QUADRILLE_TLS_CA: caFile });
      expect((await run({ servers: url, tls: { ca } })).device).toMatch(/^tls:.*parts of w1/);
      await expect(run({ servers: url })).rejects.toThrow(
        /there is no TLS connection with tls:.*name the certificate of the authority in QUADRILLE_TLS_CA/,
      );
      await killWorkers();
      await server.stop();
      // and one that wants to know its clients
      server = await startServer(`tls { ${tls}, ca_file: "${caFile}", verify: true }`);
      const strict = server.url.replace('nats:', 'tls:');
      await expect(run({ servers: strict, tls: { ca } })).rejects.toThrow(/no TLS connection|no NATS server/);
      await expect(run({ servers: strict, tls: { ca, cert, key } })).rejects.toThrow(
        /no worker answers at tls:/,
      );
    },
  );
});

/** A token as NATS wants it: claims of `subject`, signed by `issuer`. */
function token(issuer: KeyPair, subject: KeyPair, type: string, nats: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: 'none',
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: type,
    nats: { ...nats, type, version: 2 },
  };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}

/** An authority, and a certificate by it for this machine. */
function certificates(folder: string): Record<'ca' | 'cert' | 'key', string> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    '/CN=authority',
    '-keyout',
    'a.key',
    '-out',
    'a.pem',
  );
  openssl('req', ...newKey, '-subj', '/CN=localhost', '-keyout', 'b.key', '-out', 'b.csr');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signing = ['-CA', 'a.pem', '-CAkey', 'a.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'b.csr', ...signing, '-out', 'b.pem');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { ca: read('a.pem'), cert: read('b.pem'), key: read('b.key') };
}
