import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentFolder } from '@cobbler/agent/definitions';
import { loadAgent } from '@cobbler/agent/definitions';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dev } from '../../src/commands/dev.ts';
import { Schedules } from '../../src/server/schedules.ts';
import type { ServerAnswer, ServerLink } from '../../src/server/server-link.ts';
import { stage } from '../support/agent-stage.ts';
import { bareEnvironment } from '../support/binary.ts';
import { fakeClock, fakeIo } from '../support/fake-io.ts';
import { put } from '../support/put.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Sessions as a server has them, with the prompts that started a run. */
function fakeServer() {
  const sessions = new Map<string, { status: string; events: number }>();
  const prompts: [session: string, content: string][] = [];
  const keys = new Set<string>();
  let refusal: ServerAnswer | undefined;
  const link: ServerLink = async (method, path, body, key) => {
    const { id, content } = (body ?? {}) as { id?: string; content?: string };
    if (refusal !== undefined) return refusal;
    const session = id ?? path.split('/')[3] ?? '';
    const found = sessions.get(session) ?? { status: 'new', events: 0 };
    sessions.set(session, found);
    // Other processes send their requests before this response arrives.
    const json = { ...found };
    await tick();
    if (method === 'GET' || id !== undefined) return { status: 200, json };
    if (key === undefined || !keys.has(`${session} ${key}`)) prompts.push([session, content ?? '']);
    keys.add(`${session} ${key}`);
    sessions.set(session, { status: 'running', events: 1 });
    return { status: 202, json: {} };
  };
  return {
    link,
    prompts,
    end: (session: string, status = 'complete') => sessions.set(session, { status, events: 2 }),
    refuse: (answer?: ServerAnswer) => {
      refusal = answer;
    },
  };
}

type FakeServer = ReturnType<typeof fakeServer>;

const minute = 60_000;
const hour = 60 * minute;
/** A Monday. */
const start = Date.parse('2026-11-30T08:30:00Z');
const at = (time: string) => `daily@helper@2026-${time}Z`;

async function helper(cron = '0 9 * * *'): Promise<AgentFolder> {
  const folder = join(temporaryFolder(), 'helper');
  const text = `---\ncron: ${cron}\ntimezone: UTC\n---\nReport.`;
  put(folder, { 'instructions.md': 'Help.', 'schedules/daily.md': text });
  return await loadAgent(folder);
}

/** A process that runs the schedules of an agent, from `began` on. Its clock moves only when the test says so. */
function processOf(agent: AgentFolder, server: FakeServer, home: string, began = start) {
  const clock = fakeClock();
  const lines: string[] = [];
  const schedules = new Schedules({
    ...{ link: server.link, home: { store: join(home, 'sessions.db') }, store: 'store', clock },
    report: (line) => void lines.push(line),
    now: () => began + clock.now(),
  });
  schedules.use(agent);
  const settled = async () => {
    for (let ticks = 0; ticks < 6; ticks += 1) await tick();
  };
  return {
    lines,
    schedules,
    /** Advances the clock in steps, because a look at it is asynchronous. */
    async pass(ms: number) {
      const step = ms > 2 * hour ? hour / 2 : minute;
      for (let passed = 0; passed <= ms; passed += step) {
        await settled();
        if (passed < ms) clock.advance(step);
      }
    },
  };
}

describe('the schedules of a server', () => {
  test('send their prompt once at each time, to a session of its own', async () => {
    const server = fakeServer();
    const { pass, lines } = processOf(await helper(), server, temporaryFolder());
    await pass(29 * minute);
    expect([server.prompts, lines]).toEqual([[], []]);
    await pass(minute);
    expect(server.prompts).toEqual([[at('11-30T0900'), 'Report.']]);
    expect(lines).toEqual([
      `schedules/daily.md: Mon 2026-11-30 09:00 UTC runs in session ${at('11-30T0900')}`,
    ]);
    server.end(at('11-30T0900'));
    await pass(24 * hour);
    expect(server.prompts.map(([session]) => session)).toEqual([at('11-30T0900'), at('12-01T0900')]);
  });

  test('run no time twice, after a restart and in two processes', async () => {
    const [server, agent, home] = [fakeServer(), await helper(), temporaryFolder()];
    const [one, two] = [processOf(agent, server, home), processOf(agent, server, temporaryFolder())];
    await Promise.all([one.pass(31 * minute), two.pass(31 * minute)]);
    one.schedules.close();
    server.end(at('11-30T0900'));
    const next = processOf(agent, server, home, start + hour);
    await next.pass(hour);
    expect(server.prompts).toHaveLength(1);
    expect(next.lines).toEqual([]);
    // The files of this process do not know about the run.
    const elsewhere = processOf(agent, server, temporaryFolder(), start);
    await elsewhere.pass(31 * minute);
    expect(server.prompts).toHaveLength(1);
    expect(elsewhere.lines).toEqual([expect.stringContaining('09:00 UTC was already run, in session')]);
  });

  test('run only the latest of the times that were missed, and say so', async () => {
    const [server, agent, home] = [fakeServer(), await helper(), temporaryFolder()];
    const first = processOf(agent, server, home);
    await first.pass(0);
    first.schedules.close();
    const next = processOf(agent, server, home, start + 72 * hour);
    await next.pass(0);
    expect(server.prompts).toEqual([[at('12-02T0900'), 'Report.']]);
    expect(next.lines).toEqual([
      `schedules/daily.md: Wed 2026-12-02 09:00 UTC, which was missed, runs in session ${at('12-02T0900')}`,
    ]);
  });

  test('miss nothing before they exist or change', async () => {
    const [server, home] = [fakeServer(), temporaryFolder()];
    const [agent, changed] = [await helper(), await helper('0 7 * * *')];
    const { pass, schedules } = processOf(agent, server, home, start + 12 * hour);
    await pass(hour);
    schedules.use({ ...changed, folder: agent.folder });
    await pass(hour);
    expect(server.prompts).toEqual([]);
  });

  test.each(['running', 'waiting'])('skip a time while the run of the one before is %s', async (status) => {
    const server = fakeServer();
    const { pass, lines } = processOf(await helper(), server, temporaryFolder());
    await pass(30 * minute);
    server.end(at('11-30T0900'), status);
    await pass(24 * hour);
    expect(server.prompts).toHaveLength(1);
    expect(lines[1]).toBe(
      `schedules/daily.md: Tue 2026-12-01 09:00 UTC is skipped: the run of the time before has not ended, in session ${at('11-30T0900')}`,
    );
    server.end(at('11-30T0900'));
    await pass(24 * hour);
    expect(server.prompts.map(([session]) => session)).toEqual([at('11-30T0900'), at('12-02T0900')]);
  });

  test('try again if the server fails, and say what it refuses', async () => {
    const server = fakeServer();
    const { pass, lines } = processOf(await helper(), server, temporaryFolder());
    await pass(29 * minute);
    server.refuse({ status: 503, json: { detail: 'The disk is full.' } });
    await pass(2 * minute);
    expect(lines[0]).toContain('09:00 UTC could not start and is tried again. The disk is full.');
    server.refuse();
    await pass(minute);
    expect(server.prompts).toHaveLength(1);
    server.end(at('11-30T0900'));
    server.refuse({ status: 429, json: { detail: 'The budget is used up.' } });
    await pass(25 * hour);
    expect(lines.filter((line) => line.endsWith('was refused: The budget is used up.'))).toHaveLength(1);
  });
});

test('cobbler dev runs the schedules of its agent over its own server', { timeout: 30_000 }, async () => {
  const { env, folder, home, seen } = await stage(() => 'Done.');
  const daily = '---\ncron: "* * * * *"\n---\nReport now.';
  put(join(folder, 'helper'), { 'instructions.md': 'Help.', 'schedules/daily.md': daily });
  const served = async (works: (stderr: () => string) => Promise<void>) => {
    const io = fakeIo({ env: bareEnvironment(env), cwd: folder, input: '', outTty: false, errTty: false });
    const ending = dev('helper', { port: '0', sandbox: 'off' }, io, () => () => {});
    onTestFinished(() => void io.interrupt());
    await works(io.stderr.text);
    io.interrupt();
    await ending;
  };
  const files = () => readdirSync(join(home, 'schedules'));
  await served(async () => {
    await expect.poll(files, { timeout: 20_000 }).toHaveLength(1);
  });
  expect(seen).toEqual([]);
  const file = join(home, 'schedules', files()[0] ?? '');
  const marks = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ daily: { ...marks.daily, seen: marks.daily.seen - 10 * minute } }));
  await served(async (stderr) => {
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(1);
    await expect.poll(stderr).toMatch(/cobbler: schedules\/daily\.md: \w+ .* runs in session daily@helper@/);
  });
  expect(seen[0]?.task).toBe('Report now.');
});
