import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { sqliteBudgets } from '@cobbler/agent/sqlite-budgets';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commands } from '../../../src/command-line/command-table.ts';
import { commandHelp } from '../../../src/command-line/help.ts';
import { config } from '../../../src/commands/config.ts';
import { readRunFlags } from '../../../src/config/run-flags.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { listBudgets } from '../../../src/run/budgets/budget-list.ts';
import { Budgets } from '../../../src/run/budgets/budgets.ts';
import { localConversations } from '../../../src/workplace/local-conversations.ts';
import { bareEnvironment } from '../../support/binary.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { cobbler, invoke } from '../../support/in-process.ts';
import { claudeAt, mockService } from '../../support/mock-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Creates a home with this configuration, and a service whose responses cost $0.03 each. */
async function setup(settings: string, project?: string) {
  const model = 'claude-sonnet-5-5';
  const usage = { inputTokens: 10_000, outputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const reply = replies(scriptResponse(['Done.'], { model, usage }));
  const service = await mockService([reply, reply, reply]);
  const cwd = temporaryFolder();
  const home = join(cwd, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), settings);
  if (project !== undefined) {
    mkdirSync(join(cwd, '.cobbler'));
    writeFileSync(join(cwd, '.cobbler', 'config.yaml'), project);
  }
  const env = { ...claudeAt(service), COBBLER_HOME: home, NO_COLOR: '1' };
  const run = (...args: readonly string[]) =>
    invoke(['Say it.', '-m', 'claude:balanced', ...args], { env, cwd }).catch((error: unknown) => {
      const { kind, message: stderr } = AgentError.from(error);
      return { code: kind === 'invalid' ? 2 : 1, stderr, stdout: '' };
    });
  const io = () => fakeIo({ env, cwd });
  /** Returns what `cobbler budgets` prints. */
  const list = async (options = {}) => {
    const place = io();
    await listBudgets(options, place);
    return place.stdout.text() + place.stderr.text();
  };
  const set = (...setting: readonly string[]) => config(['set', ...setting], io());
  return { cwd, env, run, list, set, requests: () => service.server.exchanges.length };
}

const me = 'budgets:\n  me: { per: day, limits: { requests: 1 } }\n';

test('a run that asks when a budget is reached waits, says how to continue, and continues with more', async () => {
  const { run, cwd, env, list } = await setup(`${me}budget: me\naskAtLimit: true\n`);
  expect(await run()).toMatchObject({ code: 0 });
  const { code, stderr } = await run();
  expect(code).toBe(5);
  expect(stderr.replace(/\s+/g, ' ')).toContain(
    'Budget "me" leaves too little for the next request: 1 of 1 request spent.',
  );
  const [, id = ''] = /cobbler resume (\S+)\s+--more\s+1\n/.exec(stderr) ?? [];
  expect(await cobbler(['resume', id], { env, cwd })).toMatchObject({ code: 5 });
  const end = await cobbler(['resume', id, '--more', '2'], { env, cwd });
  expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(await list()).toMatch(/me +day +3 requests +2 requests/);
  const over = await cobbler(['resume', id, 'Again.', '--more', '2'], { env, cwd });
  expect(over).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not waiting for a decision about a limit'),
  });
});

describe('the budget of a run', () => {
  test('ends the next run when it is reached, and names the budget, its limit and its next period', async () => {
    const { run, list, requests } = await setup(me);
    expect(await run('--budget', 'me')).toMatchObject({ code: 0 });
    expect(await list()).toMatch(/me +day +1 request +1 request +0 requests +0 requests /);
    const second = await run('--budget', 'me');
    expect(second.code).toBe(3);
    expect(second.stderr.replace(/\s+/g, ' ')).toMatch(
      /stopped at the limit of a budget .*The limit of budget "me" is 1 request, .* next period, which starts at \d{4}-\d\d-\d\dT00:00:00\.000Z\./,
    );
    expect(second.stderr).not.toContain('--max-turns');
    const json = await run('--budget', 'me', '--json');
    expect(json.stdout).toMatch(/"status":"limit".*The limit of budget \\"me\\"/);
    expect(requests()).toBe(1);
  });

  test('is that of the configuration without the option, and counts in its parent', async () => {
    const { run, list, cwd } = await setup(
      `budget: me\nbudgets:\n  me: { parent: all, per: month, limits: { usd: 5 } }\n  all: { limits: { usd: 9 } }\n`,
    );
    await run();
    const store = sqliteBudgets({ file: join(cwd, 'home', 'budgets.db') });
    // A server defines these for tokens.
    await store.define({ name: 'session:a', parent: 'me', limits: {} });
    await store.close();
    const { items } = JSON.parse(await list({ json: true }));
    expect(items).toMatchObject([
      { definition: { name: 'all' }, settled: { usd: 0.03, tokens: 11_000, requests: 1 } },
      { definition: { name: 'me' }, settled: { usd: 0.03 }, endsAt: expect.stringMatching(/-01T00:00:00/) },
    ]);
    expect(await list()).toMatch(/^me +month +\$5\.00 +\$0\.030 +\$0\.00 +\$4\.97 +\d{4}/m);
  });

  test('counts runs of which another process has the same store open, and follows a changed limit', async () => {
    const { run, set } = await setup(me);
    await run('--budget', 'me');
    expect(await set('budgets.me.limits.requests', '2')).toBe(0);
    expect(await run('--budget', 'me')).toMatchObject({ code: 0 });
    expect(await run('--budget', 'me')).toMatchObject({ code: 3 });
  });

  test('can be added with the command that the help shows', async () => {
    const { run, list, set } = await setup('');
    expect(await list()).toContain('There are no budgets');
    const value = '{ per: day, limits: { usd: 5 } }';
    const help = commands.filter(({ name }) => name === 'budgets').map(commandHelp);
    expect(help.join()).toContain(`cobbler config set budgets.me '${value}'`);
    expect(await set('budgets.me', value)).toBe(0);
    expect(await set('budget', 'me')).toBe(0);
    expect((await run()).code).toBe(0);
    expect(await list()).toMatch(/^me +day +\$5\.00 +\$0\.030/m);
  });

  test('limits the conversations of chat, mcp and acp', async () => {
    const { env, cwd, requests } = await setup(me);
    const place = fakeIo({ env: bareEnvironment(env), cwd });
    const flags = readRunFlags({ model: 'claude:balanced', budget: 'me' });
    const { values } = (await readSettings(place.env)).file;
    const budgets = new Budgets({ env: place.env, values, chosen: 'me' });
    const mcp = { tools: () => [], digestOf: () => undefined, close: async () => {} };
    const host = await localConversations(flags, undefined, { mcp, budgets }, place);
    const ignore = () => {};
    const listener = { handler: {}, onLost: ignore, onBack: ignore, onTrouble: ignore, onNotice: ignore };
    const statuses: string[] = [];
    for (const harness of [host.open(undefined, listener), host.open(undefined, listener)]) {
      statuses.push((await harness.prompt('Say it.').result).status);
      await harness.close();
    }
    await budgets.close();
    expect([statuses, requests()]).toEqual([['complete', 'limit'], 1]);
  });

  test('is part of a recording', async () => {
    const { run, env, cwd, requests } = await setup(me);
    expect((await run('--budget', 'me', '--record', 'a.jsonl')).code).toBe(0);
    const replayed = await invoke(['--replay', 'a.jsonl', '--quiet'], { env, cwd });
    expect(replayed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(requests()).toBe(1);
  });
});

describe('an alert of a budget', () => {
  /** Starts an endpoint that responds with this status, and returns the settings and what it receives. */
  async function endpoint(status: number) {
    const received: unknown[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ ...JSON.parse(body), method: request.method, path: request.url });
        response.writeHead(status, { location: '/other' }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const settings = `budget: me\nalertWebhook: http://127.0.0.1:${port}/hook?key=secret\n`;
    return {
      received,
      settings: `${settings}budgets:\n  me: { per: day, limits: { usd: 0.06 }, alerts: [50, 100] }\n`,
    };
  }

  test('is sent once to the address of the configuration before the command ends', async () => {
    const { received, settings } = await endpoint(200);
    const { run } = await setup(settings);
    const first = await run();
    expect(received).toMatchObject([
      {
        type: 'budget_alert',
        budget: 'me',
        share: 50,
        limit: 'usd',
        max: 0.06,
        settled: 0.03,
        path: '/hook?key=secret',
      },
    ]);
    expect(received[0]).toMatchObject({ method: 'POST', until: expect.stringMatching(/T00:00:00\.000Z$/) });
    await run();
    expect(received.slice(1)).toMatchObject([{ share: 100 }]);
    await run();
    expect([received.length, first.stderr]).toEqual([2, expect.not.stringContaining('could not be sent')]);
  });

  test.each([500, 302])(
    'that is answered with %d is reported without the path of the address',
    async (status) => {
      const { received, settings } = await endpoint(status);
      const { code, stderr } = await (await setup(settings)).run();
      expect([code, received.length]).toEqual([0, 1]);
      expect(stderr).toMatch(
        /cobbler: The alert for budget "me" could not be sent: 127\.0\.0\.1:\d+ (responded|did)/,
      );
      expect(stderr).not.toContain('secret');
    },
  );

  test('is not sent to an address without TLS on another machine', async () => {
    const { code, stderr } = await (await setup(`${me}alertWebhook: http://example.org/\n`)).run(
      '--budget',
      'me',
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('must be an https URL, or an http URL that points to this machine'),
    ]);
  });
});

describe("a budget in a project's file", () => {
  const project = 'budget: { per: day, limits: { requests: 1 } }\n';

  test('limits the runs in that directory, inside the budget of the user', async () => {
    const { run, list, cwd } = await setup('budget: me\nbudgets: { me: { limits: { usd: 5 } } }\n', project);
    expect((await run()).code).toBe(0);
    const second = await run();
    expect(second.code).toBe(3);
    expect(second.stderr.replace(/\s+/g, ' ')).toContain('The limit of budget "me/project:');
    const { items } = JSON.parse(await list({ json: true }));
    expect(items).toMatchObject([
      { definition: { name: 'me' }, settled: { requests: 1 } },
      { definition: { name: `me/project:${cwd}`, parent: 'me' } },
    ]);
  });

  test('applies without a budget of the user', async () => {
    const { run } = await setup('', project);
    expect([(await run()).code, (await run()).code]).toEqual([0, 3]);
  });

  test('applies although its directory is longer than the name of a budget', async () => {
    const name = 'n'.repeat(195);
    const { run } = await setup(`budget: ${name}\nbudgets: { ${name}: { limits: { usd: 5 } } }\n`, project);
    expect([(await run()).code, (await run()).code]).toEqual([0, 3]);
  });

  test('cannot choose one of the budgets of the user, or a parent', async () => {
    for (const budget of ['me', '{ parent: me, limits: { usd: 1 } }', '{ limits: { usd: -1 } }', '{}']) {
      const { run, requests } = await setup(me, `budget: ${budget}\n`);
      const { code, stderr } = await run('--budget', 'me');
      expect(code).toBe(2);
      expect(stderr).toContain(
        'is invalid: "budget" must contain "limits" and can contain "per" and "timeZone".',
      );
      expect(requests()).toBe(0);
    }
  });
});

describe('an error in the configuration of budgets', () => {
  test.each<[settings: string, message: string]>([
    [
      'budgets: { me: { limits: { usd: -1 } } }',
      'entry "me" is not a valid budget: me.limits.usd is invalid: it is -1.',
    ],
    ['budgets: { me: { limits: { usd: .nan } } }', 'me.limits.usd is invalid: it is NaN.'],
    ['budgets: { me: { limits: { usd: .inf } } }', 'Omit the amount for no limit'],
    [
      'budgets: { me: { per: week, limits: {} } }',
      'me.per is invalid: it is "week". Use "total" or "run" or "hour"',
    ],
    ['budgets: { me: { timeZone: Mars, limits: {} } }', 'Use the IANA name of a time zone'],
    [
      'budgets: { me: { limits: { eur: 1 } } }',
      'entry "me" has an unknown field "eur". Known: usd, tokens, requests',
    ],
    [
      'budgets: { me: { max: 1 } }',
      'has an unknown field "max". Known: parent, per, timeZone, limits, alerts',
    ],
    ['budgets: { me: { limits: { usd: 1 }, alerts: [0] } }', 'Use a percentage above 0 and at most 1000'],
    ['budgets: { me: {} }', 'me.limits is invalid'],
    ['budgets: [me]', 'must map names to budgets'],
    ['userBudget: { parent: me, limits: {} }', 'has an unknown field "parent"'],
    ['budgets: { me: { parent: you, limits: {} } }', 'There is no budget named "you"'],
    [
      'budgets: { me: { parent: you, limits: {} }, you: { parent: me, limits: {} } }',
      'Budget "me" is its own parent or ancestor.',
    ],
  ])('ends the run with code 2 before any request: %s', async (settings, message) => {
    const { run, requests } = await setup(`${settings}\n`);
    const { code, stderr } = await run('--budget', 'me');
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(requests()).toBe(0);
  });

  test('is a name that does not exist', async () => {
    const { run, requests } = await setup(me);
    const { code, stderr } = await run('--budget', 'you');
    expect([code, stderr]).toEqual([2, 'There is no budget named "you". Define it first.']);
    expect(await run('--budget', '')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--budget cannot be "".'),
    });
    expect(requests()).toBe(0);
  });
});
