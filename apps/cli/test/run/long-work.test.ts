import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '@cobbler/agent';
import type { MockReply, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { invoke } from '../support/in-process.ts';
import { testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns the model's reply to a request; `results` are the texts of all tool results so far. */
type Mind = (results: readonly string[], request: ReadRequest) => MockReply;

async function service(mind: Mind) {
  const requests: ReadRequest[] = [];
  const server = wireServer(
    claudeTesting,
    (request) => {
      requests.push(request);
      const parts = request.turns.flatMap((turn) => [...turn.parts]);
      return mind(
        parts.flatMap((part) => (part.type === 'result' ? [part.text] : [])),
        request,
      );
    },
    { secret: testKey },
  );
  const { url, close } = await serveLoopback(server.handler);
  onTestFinished(() => close());
  const bodies = () => server.exchanges.map(({ text }) => text);
  return { url, requests, bodies };
}

function place(url: string) {
  const folder = temporaryFolder();
  const home = join(folder, 'home');
  const env = {
    ANTHROPIC_API_KEY: testKey,
    ANTHROPIC_BASE_URL: url,
    COBBLER_MODEL: 'claude:claude-test',
    HOME: folder,
  };
  return { folder, home, env: { ...env, COBBLER_HOME: home } };
}

const says = (text: string, usage?: { inputTokens: number; outputTokens: number }): MockReply =>
  replies(scriptResponse([text], { model: 'claude-test', ...(usage !== undefined && { usage }) }));
const calls = (name: string, input: unknown, inputTokens = 1_000): MockReply =>
  replies(
    scriptResponse([callBlock(`toolu_${name}_${inputTokens}`, name, input)], {
      model: 'claude-test',
      usage: { inputTokens, outputTokens: 10 },
    }),
  );

const eventsIn = (stdout: string): Event[] =>
  stdout
    .split('\n')
    .filter((line) => line.includes('"seq"'))
    .map((line) => JSON.parse(line));

describe('long output', () => {
  const loud = 'i=0; while [ $i -lt 40000 ]; do echo "line $i"; i=$((i+1)); done';

  /** Runs a command with long output, then reads a part that was left out. */
  const reading: Mind = (results) => {
    if (results.length === 0) return calls('run_command', { command: loud });
    const [, id = ''] = /read_blob with \{"id":"([0-9a-f]+)"/.exec(results[0] ?? '') ?? [];
    if (results.length === 1) return calls('read_blob', { id, offset: 200_000, bytes: 60 }, 2_000);
    return says('Done.');
  };

  test('is offloaded completely, and the model reads a part of it', async () => {
    const { url, requests } = await service(reading);
    const { folder, home, env } = place(url);
    const { code, stdout } = await invoke(['--yes', '--json', 'Count.'], { cwd: folder, env });
    expect(code).toBe(0);
    const [first, second] = eventsIn(stdout).filter((event) => event.type === 'tool_result');
    const shown = first?.content[0]?.type === 'text' ? first.content[0].text : '';
    expect(shown.length).toBeLessThan(17_000);
    expect([shown.includes('line 0\n'), shown.includes('line 39999')]).toEqual([true, true]);
    const [blob] = first?.blobs ?? [];
    expect(readdirSync(join(home, 'blobs'))).toEqual([`blob-${blob?.id}`]);
    const whole = readFileSync(join(home, 'blobs', `blob-${blob?.id}`), 'utf8');
    expect([whole.length, whole.split('\n').length > 40_000]).toEqual([blob?.bytes, true]);
    expect(JSON.stringify(second?.content)).toContain(
      JSON.stringify(whole.slice(200_000, 200_060)).slice(1, -1),
    );
    expect(requests.every(({ tools }) => tools.some(({ name }) => name === 'read_blob'))).toBe(true);
  });

  test('is recorded and replayed byte for byte, and the replay creates no home', async () => {
    const { url } = await service(reading);
    const { folder, env } = place(url);
    const cassette = join(folder, 'run.jsonl');
    const recorded = await invoke(['--yes', '--json', '--record', cassette, 'Count.'], { cwd: folder, env });
    const home = join(folder, 'another home');
    const elsewhere = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', COBBLER_HOME: home };
    const again = await invoke(['--replay', cassette, '--json'], { cwd: folder, env: elsewhere });
    expect([again.code, again.stdout]).toEqual([0, recorded.stdout]);
    expect(recorded.stdout).toContain('(bytes 200000 to 200060 of ');
    expect(existsSync(home)).toBe(false);
  });

  test('stays in the conversation, shortened in its middle, if offloading is disabled', async () => {
    const { url, requests } = await service((results) =>
      results.length === 0 ? calls('run_command', { command: loud }) : says('Done.'),
    );
    const { folder, home, env } = place(url);
    const { stdout } = await invoke(['--yes', '--json', '--offload-above', 'never', 'Count.'], {
      cwd: folder,
      env,
    });
    expect(stdout).toContain('bytes omitted');
    expect(requests.some(({ tools }) => tools.some(({ name }) => name === 'read_blob'))).toBe(false);
    expect(existsSync(join(home, 'blobs'))).toBe(false);
  });

  test('is offloaded above the configured limit, unless --offload-above is larger', async () => {
    const { url, requests } = await service((results) =>
      results.length === 0 ? calls('read_file', { path: 'a.txt' }) : says('Done.'),
    );
    const { folder, home, env } = place(url);
    writeFileSync(join(folder, 'a.txt'), 'x\n'.repeat(5_000));
    mkdirSync(home);
    writeFileSync(join(home, 'config.yaml'), 'offloadAbove: 2000\n');
    await invoke(['-q', 'Read.'], { cwd: folder, env });
    expect(JSON.stringify(requests.at(-1)?.turns)).toContain('read_blob with');
    await invoke(['-q', '--offload-above', '64k', 'Read.'], { cwd: folder, env });
    expect(JSON.stringify(requests.at(-1)?.turns)).not.toContain('read_blob with');
  });
});

describe('a long conversation', () => {
  /** Calls a tool in five turns with growing token counts; requests without tools get `summary`. */
  function reader(summary: MockReply): Mind {
    let looks = 0;
    return (_, { tools }) => {
      if (tools.length === 0) return summary;
      looks += 1;
      const input = { path: '.', pattern: `*${looks}` };
      return looks > 5 ? says('Done.') : calls('list_files', input, 2_000 * looks);
    };
  }

  const notes = says('NOTES: nothing found yet.', { inputTokens: 500, outputTokens: 20 });

  test('is summarized above the given tokens, and the output says so', async () => {
    const { url, requests } = await service(reader(notes));
    const { folder, env } = place(url);
    const { code, stderr } = await invoke(['--compact-above', '9k', '--read-only', 'Look.'], {
      cwd: folder,
      env,
    });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/\d+ older messages summarized to save space/)]);
    expect(requests.some(({ tools }) => tools.length === 0)).toBe(true);
    expect(JSON.stringify(requests.at(-1)?.turns)).toContain('NOTES: nothing found yet.');
  });

  test('continues without a summary if the model does not complete one', async () => {
    const half = replies(scriptResponse(['Half'], { model: 'claude-test', stop: 'max_tokens' }));
    const { url, requests } = await service(reader(half));
    const { folder, env } = place(url);
    const { code, stderr } = await invoke(['--compact-above', '9k', '--read-only', 'Look.'], {
      cwd: folder,
      env,
    });
    expect([code, stderr.includes('older messages')]).toEqual([0, false]);
    expect(requests.some(({ tools }) => tools.length === 0)).toBe(true);
  });

  test('is not summarized with --compact-above never', async () => {
    const { url, requests } = await service(reader(notes));
    const { folder, env } = place(url);
    const never = ['--compact-above', 'never', '--read-only', '-q', 'Look.'];
    expect((await invoke(never, { cwd: folder, env })).code).toBe(0);
    expect(requests.every(({ tools }) => tools.length > 0)).toBe(true);
  });
});

describe('a run with one request', () => {
  const marks = (bodies: readonly string[]) => bodies.join().includes('cache_control');

  test('does not use prompt caching, because no request follows', async () => {
    const { url, bodies } = await service(() => says('Done.'));
    const { folder, env } = place(url);
    await invoke(['-q', '--tools', 'none', 'Say it.'], { cwd: folder, env });
    await invoke(['-q', '--max-turns', '1', 'Say it.'], { cwd: folder, env });
    expect([bodies().length, marks(bodies())]).toEqual([2, false]);
    await invoke(['-q', 'Say it.'], { cwd: folder, env });
    expect(marks(bodies().slice(2))).toBe(true);
  });
});
