/** Each right that docs/cluster.md lists is needed: who lacks one is told which, and nobody waits. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { absent, killWorkers, type Server, startServer, startWorker } from './server.ts';

type Role = 'worker' | 'coordinator';

interface Rights {
  publish: string[];
  subscribe: string[];
  /** Whether it may answer requests. */
  answers: boolean;
}

const config = readFileSync('docs/cluster.md', 'utf8');

function rightsOf(role: Role): Rights {
  const [, text] = new RegExp(`^ {2}${role} = \\{$([\\s\\S]*?)^ {2}\\}$`, 'm').exec(config)!;
  const list = (name: string) => {
    const [, inside] = new RegExp(`${name} = \\[([\\s\\S]*?)\\]`).exec(text)!;
    return [...inside.matchAll(/"([^"]+)"/g)].map(([, subject]) => subject);
  };
  return {
    publish: list('publish'),
    subscribe: list('subscribe'),
    answers: /allow_responses = true/.test(text),
  };
}

interface Lacking {
  user: string;
  /** What the user may not do. */
  right: string;
  rights: Rights;
  /** How the message names it. */
  message: RegExp;
}

/** The subjects that one with wildcards stands for. */
const patternOf = (subject: string) =>
  subject.replaceAll('.', '\\.').replaceAll('$', '\\$').replaceAll('*', '[^.]+').replaceAll('>', '\\S+');

/** Users that have all rights of their role but one. */
function lacking(role: Role): Lacking[] {
  const all = rightsOf(role);
  const without = (list: 'publish' | 'subscribe') =>
    all[list].map((subject, i) => ({
      user: `${role}-${list}-${i}`,
      right: `${list} to ${subject}`,
      rights: { ...all, [list]: all[list].filter(s => s !== subject) },
      message: new RegExp(`may not ${list} to ${patternOf(subject)}`),
    }));
  const answers = {
    user: `${role}-answers`,
    right: 'answer requests',
    rights: { ...all, answers: false },
    message: /may not answer requests: its permissions need allow_responses = true/,
  };
  return [...without('publish'), ...without('subscribe'), answers];
}

/** It is needed only to remove jobs of coordinators that died, and there are none. */
const UNUSED = 'quadrille.begin.*';

const userText = (user: string, { publish, subscribe, answers }: Rights) =>
  `{ user: "${user}", password: "x", permissions: { publish: ${JSON.stringify(publish)}, subscribe: ${JSON.stringify(subscribe)}${answers ? ', allow_responses: true' : ''} } }`;

describe.skipIf(absent)('a user lacks the right to', () => {
  const workers = lacking('worker');
  const coordinators = lacking('coordinator').filter(c => c.right !== `publish to ${UNUSED}`);
  let server: Server;
  const as = (user: string) => server.url.replace('//', `//${user}:x@`);
  beforeAll(async () => {
    const users = [
      userText('worker', rightsOf('worker')),
      ...[...workers, ...coordinators].map(l => userText(l.user, l.rights)),
    ];
    server = await startServer(`authorization { users = [${users.join(',\n')}] }`);
    await startWorker(as('worker'), 'w1');
    await startWorker(as('worker'), 'w2');
  });
  afterAll(async () => {
    await killWorkers();
    await server?.stop();
  });

  test.each(workers)('$right: the worker says so, and ends', async ({ user, message }) => {
    const worker = await startWorker(as(user), user);
    expect(worker.said()).toMatch(message);
    expect(worker.said()).toMatch(/^ended: this user of .*docs\/cluster\.md lists the rights of workers$/m);
  });

  test.each(coordinators)('$right: the run fails, and names it', async ({ user, message }) => {
    const run = integrate(([x, y]) => Math.exp(-x * y), {
      dims: 2,
      method: 'mcubes',
      relTol: 1e-9,
      maxEvaluations: 2e6,
      device: `${as(user)}/run-1`,
    });
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toThrow(/lists the rights of coordinators/);
  });
});
