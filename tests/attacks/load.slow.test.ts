import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { GateCall } from '@cobbler/agent';
import { memoryStore, rules } from '@cobbler/agent';
import { auditLines, readAuditLine, verifyAudit } from '@cobbler/agent/audit';
import { visibleText } from '@cobbler/agent/events';
import { scriptedAgent } from '@cobbler/agent/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readProjectRules } from '../../apps/cli/src/config/project-rules.ts';
import { Permission } from '../../apps/cli/src/permissions/permission.ts';
import type { CobblerServer } from '../../apps/server/src/index.ts';
import { startServer, TokenStore } from '../../apps/server/src/index.ts';

/** Far more than an input may take, and far less than a pattern that backtracks or a quadratic loop takes. */
const patience = { timeout: 5_000 };

const call = (fields: Partial<GateCall>): GateCall => ({
  toolName: 'mail',
  subject: '',
  id: '1',
  effect: 'once',
  arguments: {},
  ...fields,
});

describe('a pattern that would backtrack', () => {
  const stars = `${'*a'.repeat(12)}*b`;
  const subject = 'a'.repeat(20_000);

  test('in a deny rule is decided at once', patience, async () => {
    const gate = rules({ deny: [`mail(${stars})`] });
    expect(await gate(call({ subject }))).toEqual({ type: 'ask' });
    expect(await gate(call({ subject: `${subject}b` }))).toMatchObject({ type: 'deny' });
  });

  test('in an allow rule is decided at once, whatever the model chose as the subject', patience, async () => {
    const gate = rules({ allow: [`mail(${stars})`] });
    expect(await gate(call({ subject: `${subject} -` }))).toEqual({ type: 'ask' });
    expect(await gate(call({ subject: `${subject}b` }))).toEqual({ type: 'allow' });
  });

  test('in the name of a tool is decided at once', patience, async () => {
    const gate = rules({ deny: [stars] });
    expect(await gate(call({ toolName: subject }))).toEqual({ type: 'ask' });
  });

  test('in the file of a project is decided at once for a command, too', patience, () => {
    const permission = new Permission('ask', [], true, { deny: [`run_command(${stars} ${stars})`] });
    const arguments_ = { command: `ls ${subject}` };
    const decided = permission.decide(
      call({ toolName: 'run_command', subject: arguments_.command, arguments: arguments_ }),
    );
    expect(decided.type).toBe('ask');
  });

  test('with quotes before dashes is decided at once', patience, async () => {
    const gate = rules({ allow: ['mail(a*b*c*d)'] });
    expect(await gate(call({ subject: `a ${`"'`.repeat(50_000)}-b` }))).toEqual({ type: 'ask' });
  });
});

describe('a command line', () => {
  test.each([
    ['nested substitutions', `ls ${'$('.repeat(20_000)}`],
    ['nested groups', `ls ${'('.repeat(20_000)}`],
    ['nested quotes', `ls ${'"$(echo '.repeat(10_000)}`],
    ['nested arithmetic', `ls ${'$(('.repeat(20_000)}`],
    ['braces that multiply', `ls ${'{a,b}'.repeat(5_000)}`],
    ['here documents without an end', `ls ${'<<a '.repeat(20_000)}`],
    ['shells in shells', `ls | ${'bash -c '.repeat(10_000)}`],
    ['programs that start programs', `ls | ${'env xargs '.repeat(10_000)}`],
    ['many blanks before its end', `ls${' '.repeat(100_000)}$`],
    ['a program whose name is a number', `${'1'.repeat(100_000)}x`],
    ['a flag that is a number', `ls -${'1'.repeat(100_000)}x`],
  ])('with %s asks, and does not end the process', patience, (_, command) => {
    const allow = ['run_command(ls)', 'run_command(ls [-n=])'];
    const permission = new Permission('ask', allow, true, { deny: ['run_command(rm)'] });
    const given = call({ toolName: 'run_command', subject: command, arguments: { command } });
    expect(permission.decide(given).type).toBe('ask');
  });
});

test('a diff with many blanks before the end of a line is shown at once', patience, () => {
  const line = `+${' '.repeat(100_000)}x`;
  expect(visibleText(line, 'diff')).toBe('+\\u{20}{100000}x');
});

describe('the file of a project', () => {
  async function rulesOf(text: string): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), 'load-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, '.cobbler'));
    writeFileSync(join(folder, '.cobbler/config.yaml'), text);
    return await readProjectRules(folder, { HOME: join(folder, 'home') });
  }

  const bomb = Array.from({ length: 25 }, (_, at) =>
    at === 0 ? 'a0: &a0 [x, x]' : `a${at}: &a${at} [*a${at - 1}, *a${at - 1}, *a${at - 1}]`,
  );

  test.each([
    ['aliases that multiply', `${bomb.join('\n')}\npermissions:\n  deny: *a24\n`],
    ['nested lists', `permissions: ${'['.repeat(10_000)}`],
    ['nested maps', `permissions: ${'{a: '.repeat(5_000)}`],
  ])('with %s is refused with the name of the file', patience, async (_, text) => {
    await expect(rulesOf(text)).rejects.toThrow(/config\.yaml is invalid/);
  });
});

describe('an audit log from elsewhere', () => {
  test('with a line that does not end is read once', patience, async () => {
    const chunk = 'x'.repeat(16_384);
    const chunks = Readable.from(Array.from({ length: 4_000 }, () => chunk));
    expect((await verifyAudit(auditLines(chunks))).problem).toMatchObject({ line: 1 });
  });

  const record = { v: 1, seq: 1, pid: 1, prev: '0'.repeat(64), time: '', kind: 'stop', surface: '' };

  test.each([
    ['nested', '['.repeat(500_000)],
    ['long', JSON.stringify(record).replace('"seq":1', `"seq":${'9'.repeat(500_000)}`)],
  ])('with a line that is %s is not a record', patience, (_, line) => {
    expect(readAuditLine(JSON.stringify(record))).toEqual(record);
    expect(readAuditLine(line)).toBeUndefined();
  });
});

describe('a server', () => {
  let server: CobblerServer;
  let token: string;

  beforeAll(async () => {
    const tokens = new TokenStore();
    token = tokens.own();
    const settings = () => ({ agent: scriptedAgent(['Yes.']), tools: [] });
    const limits = { clients: 50, connections: 300, drainMs: 0 };
    server = await startServer({ settings, tokens, store: memoryStore(), limits, log: () => {} });
    await ask('POST', '/v1/sessions', '{"id":"honest"}');
  });

  afterAll(() => server.close());

  async function ask(method: string, path: string, body?: string, headers = {}): Promise<number> {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });
    await response.body?.cancel();
    return response.status;
  }

  const bytes = () =>
    `GET /v1/sessions/honest HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
  const isAlive = async () => expect(await ask('GET', '/v1/sessions/honest')).toBe(200);

  test.each([
    ['nested lists', `{"content":${'['.repeat(500_000)}`],
    ['nested lists that end', `{"content":${'['.repeat(250_000)}${']'.repeat(250_000)}}`],
    ['nested maps', `{"content":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
    ['many items', `{"content":[${'0,'.repeat(20_000)}0]}`],
    ['many keys', `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":0`).join(',')}}`],
    ['a number without an end', `{"content":${'9'.repeat(900_000)}}`],
  ])('refuses a prompt with %s, and keeps working', patience, async (_, body) => {
    expect(await ask('POST', '/v1/sessions/honest/prompt', body)).toBe(400);
    await isAlive();
  });

  test.each([
    ['a long id', `/v1/sessions/${'a'.repeat(10_000)}!`, 404],
    ['a long position', `/v1/sessions/honest/events?after=${'9'.repeat(10_000)}`, 400],
    ['many parameters', `/v1/sessions?${'limit=1&'.repeat(1_500)}`, 200],
    ['many segments', `/v1/sessions/${'a/'.repeat(6_000)}!`, 404],
  ])('answers %s, and keeps working', patience, async (_, path, status) => {
    expect(await ask('GET', path)).toBe(status);
    await isAlive();
  });

  test('refuses one token more streams than it has, and frees each that ends', patience, async () => {
    const open = new AbortController();
    const stream = () =>
      fetch(`${server.url}/v1/sessions/honest/events`, {
        headers: { authorization: `Bearer ${token}` },
        signal: open.signal,
      });
    const statuses = (await Promise.all(Array.from({ length: 60 }, stream))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 503)).toHaveLength(10);
    await isAlive();
    open.abort();
    await expect.poll(() => ask('GET', '/v1/sessions/honest/events')).toBe(200);
  });

  test('answers a thousand requests on one connection, each once', patience, async () => {
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    let answers = 0;
    socket.setEncoding('latin1').on('data', (text: string) => {
      answers += text.split('HTTP/1.1 200 OK').length - 1;
    });
    socket.write(bytes().repeat(1_000));
    await expect.poll(() => answers, patience).toBe(1_000);
  });

  test('serves others while connections that say nothing are open', patience, async () => {
    const { port, hostname } = new URL(server.url);
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), hostname));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // `fetch` would use a connection that was open before.
    const next = connect(Number(port), hostname).setEncoding('latin1');
    sockets.push(next);
    next.write(bytes());
    expect((await once(next, 'data'))[0]).toContain('HTTP/1.1 200 OK');
  });
});
