import { describe, expect, test } from 'vitest';
import type { Recording } from '../../src/cassette/index.ts';
import { player, recorder } from '../../src/cassette/index.ts';
import { offload } from '../../src/context/offload.ts';
import type { RunEvent } from '../../src/events/event.ts';
import { isStored } from '../../src/events/event.ts';
import type { Blobs } from '../../src/interfaces/blobs.ts';
import { memoryBlobs } from '../../src/interfaces/blobs.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import type { Wire } from '../../src/provider/wire/wire.ts';
import type { MockReply } from '../../src/testing/index.ts';
import {
  callBlock,
  handlerTransport,
  replies,
  scriptCapabilities,
  scriptResponse,
  scriptTesting,
  scriptWire,
  wireServer,
} from '../../src/testing/index.ts';
import { systemRuntime } from '../../src/values/runtime.ts';
import type { Scene } from './rig.ts';
import { apiKey, hastyRuntime, pause, record, replay, service, show, turn } from './rig.ts';

const says = (text: string, ...calls: ReturnType<typeof callBlock>[]): MockReply =>
  replies(scriptResponse([text, ...calls]));

describe('a wire with its own send method', () => {
  /** Returns a wire with a vendor's client, which keeps the address and the key to itself. */
  function selfSending(plays: readonly MockReply[]) {
    const server = wireServer(scriptTesting, [...plays], { secret: apiKey });
    const direct = handlerTransport(server.handler);
    const sent: string[] = [];
    const plain = scriptWire({ baseURL: 'https://service.test', apiKey });
    const wire: Wire = {
      ...plain,
      send(body, { headers, signal }) {
        sent.push(new TextDecoder().decode(body));
        const url = 'https://service.test/ask';
        return direct({
          url,
          headers: { ...headers, authorization: `Bearer ${apiKey}` },
          body: [body],
          signal,
        });
      },
    };
    return { wire, sent };
  }

  async function told(wire: Wire, tape: Recording, prompt = 'Look.') {
    const events: RunEvent[] = [];
    const agent = createAgent(tape.wire(wire), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      runtime: tape.runtime,
      transport: tape.transport,
    });
    const executor = new Executor({ agent, runtime: tape.runtime });
    const result = await executor.run(prompt, { onEvent: (event) => events.push(event) });
    await turn();
    return {
      result,
      log: events
        .filter(isStored)
        .map((event) => JSON.stringify(event))
        .join('\n'),
    };
  }

  async function recorded() {
    const { wire, sent } = selfSending([
      { type: 'fault', fault: { kind: 'busy', message: 'Busy.' } },
      says('Well.'),
    ]);
    const lines: string[] = [];
    const tape = recorder({ runtime: hastyRuntime(1), turn, write: (line) => void lines.push(line) });
    return { ...(await told(wire, tape)), cassette: lines.join(''), sent };
  }

  test('is recorded, retries included, and replayed byte for byte without being called', async () => {
    const first = await recorded();
    expect([first.result.status, first.sent.length]).toEqual(['complete', 2]);
    expect(first.cassette).not.toContain(apiKey);
    const { wire, sent } = selfSending([]);
    const tape = player(first.cassette, { runtime: hastyRuntime(9), turn });
    const again = await told(wire, tape);
    tape.check();
    expect([again.log, sent]).toEqual([first.log, []]);
  });

  test('reports a mismatch for a different request', async () => {
    const first = await recorded();
    const { wire, sent } = selfSending([says('Anything.')]);
    const tape = player(first.cassette, { runtime: hastyRuntime(9), turn, patienceMs: 30 });
    const { result } = await told(wire, tape, 'Look away.');
    expect([result.error?.code, sent]).toEqual(['replay_miss', []]);
    expect(result.error?.message).toContain('now       "Look away."');
  });

  test('a wire without send is returned unchanged', () => {
    const wire = scriptWire({ baseURL: 'https://service.test', apiKey });
    const tape = recorder({ runtime: hastyRuntime(1), turn, write: () => {} });
    expect(tape.wire(wire)).toBe(wire);
  });
});

describe('asynchronous blobs', () => {
  const world = hastyRuntime(7);

  /** Delays each operation at random, as files do, by a clock outside the recording. */
  function slow(blobs: Blobs): Blobs {
    const turns = async (count: number) => {
      for (let left = count; left > 0; left -= 1) await turn();
    };
    return {
      async put(id, bytes) {
        await turns(world.random() * 20);
        await blobs.put(id, bytes);
      },
      async get(id, range) {
        await turns(world.random() * 20);
        return await blobs.get(id, range);
      },
    };
  }

  const look = (name: string): Tool => ({
    name,
    description: 'Looks.',
    parameters: { type: 'object' },
    effect: 'read',
    execute: async () => {
      await pause(world, 5);
      return name.repeat(4_000);
    },
  });

  const one = 'one'.repeat(4_000);

  async function scripted(): Promise<MockReply[]> {
    const id = (await systemRuntime.digest(one)).slice(0, 24);
    const looks = [callBlock('a', 'one', {}), callBlock('b', 'two', {}), callBlock('c', 'one', {})];
    const reads = callBlock('d', 'read_blob', { id, offset: 3_000, bytes: 100 });
    return [says('I look.', ...looks), says('I read on.', reads), says('Done.')];
  }

  async function shown(tape: Recording, script: readonly MockReply[] = []) {
    const policy = offload(tape.blobs(slow(memoryBlobs())), { overBytes: 1_000 });
    const tools = () => [look('one'), look('two')];
    return await show({ script, tools, options: { context: { offload: policy } } }, tape, world);
  }

  test('keep the recorded order in a replay', async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const script = await scripted();
      const runtime = hastyRuntime(seed);
      const lines: string[] = [];
      const write = (line: string) => void lines.push(line);
      const { transport } = service({ script }, runtime);
      const first = await shown(recorder({ runtime, transport, turn, write }), script);
      expect(first.log).toContain('(bytes 3000 to 3100 of 12000; more follows)');
      const playing = player(lines.join(''), { runtime: hastyRuntime(500 + seed), turn });
      const again = await shown(playing);
      playing.check();
      expect(again.log).toBe(first.log);
    }
  });
});

describe('the prices of a recording', () => {
  /** Prices an input token at `factor` times the request's token count (1,000 if unknown). */
  const scene = (factor: number): Scene => ({
    script: [
      replies(scriptResponse([callBlock('a', 'look', {})], { usage: { inputTokens: 300, outputTokens: 1 } })),
      replies(scriptResponse(['Done.'], { usage: { inputTokens: 500, outputTokens: 1 } })),
    ],
    tools: () => [
      { name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => 'x'.repeat(99) },
    ],
    options: { pricing: (_provider, _model, tokens = 1_000) => ({ input: factor * tokens, output: 0 }) },
  });

  test('are requested for the size of each request, and a replay reuses them', async () => {
    const recorded = await record(scene(1));
    expect(recorded.result.metrics.usd).toBeCloseTo((300 ** 2 + 500 ** 2) / 1e6, 12);
    const again = await replay(scene(7), recorded.cassette);
    expect(again.log).toBe(recorded.log);
  });
});
