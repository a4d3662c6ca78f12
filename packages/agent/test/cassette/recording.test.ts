import { describe, expect, test } from 'vitest';
import type { Recording } from '../../src/cassette/index.ts';
import { player, recorder } from '../../src/cassette/index.ts';
import { Budget } from '../../src/interfaces/budget.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import type { MockReply } from '../../src/testing/index.ts';
import { callBlock, replies, scriptResponse } from '../../src/testing/index.ts';
import type { Scene } from './rig.ts';
import { hastyRuntime, pause, record, replay, service, show, turn } from './rig.ts';

const touch: Tool = {
  name: 'touch',
  description: 'Touches.',
  parameters: { type: 'object' },
  execute: () => turn(),
};
const says = (text: string, ...ids: string[]): MockReply =>
  replies(scriptResponse([text, ...ids.map((id) => callBlock(id, 'touch', {}))]));
const scene: Scene = { script: [says('I touch.', 'c1', 'c2'), says('Done.')], tools: () => [touch] };

/** Returns a recording over the test's own runtime, and the lines that it has written. */
function recording(world = hastyRuntime(1), options: Partial<Parameters<typeof recorder>[0]> = {}) {
  const written: string[] = [];
  const tape = recorder({ runtime: world, turn, ...options, write: (line) => void written.push(line) });
  return { tape, written };
}

async function still(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}

describe('the clock of a recording', () => {
  test('does not advance until an input arrives, whatever the real clock does', async () => {
    const { tape } = recording();
    const began = [tape.runtime.monotonic(), tape.runtime.now()];
    await still();
    expect([tape.runtime.monotonic(), tape.runtime.now()]).toEqual(began);
    await tape.moment('later');
    expect(tape.runtime.monotonic()).toBeGreaterThan(began[0] ?? 0);
    expect(tape.runtime.now() - (began[1] ?? 0)).toBe(Math.floor(tape.runtime.monotonic()));
  });

  test('is at the due time of a timer that fires early, and never goes back', async () => {
    const early = {
      ...hastyRuntime(1),
      timer: (_ms: number, fire: () => void) => {
        setImmediate(fire);
        return () => {};
      },
    };
    const { tape } = recording(early);
    const moments: number[] = [];
    tape.runtime.timer(5000, () => moments.push(tape.runtime.monotonic()));
    await still();
    await tape.moment('next');
    moments.push(tape.runtime.monotonic());
    expect(moments[0]).toBe(5000);
    expect(moments[1]).toBe(5000);
  });

  test('does not fire a timer that another one, due at the same time, has cancelled', async () => {
    const fires: (() => void)[] = [];
    const world = {
      ...hastyRuntime(1),
      timer: (_ms: number, fire: () => void) => {
        fires.push(fire);
        return () => {};
      },
    };
    const { tape, written } = recording(world);
    const fired: string[] = [];
    tape.runtime.timer(5, () => {
      fired.push('first');
      takeBack();
    });
    const takeBack = tape.runtime.timer(5, () => fired.push('second'));
    for (const fire of fires) fire();
    await still();
    expect(fired).toEqual(['first']);
    expect(written.filter((line) => line.includes('timer'))).toHaveLength(1);
  });
});

describe('inputs arrive one at a time', () => {
  test('from a program that steers and cancels as soon as the run has started', async () => {
    for (const begins of [
      ({ steer }: ReturnType<Recording['control']>) => steer('And hurry.'),
      ({ cancel }: ReturnType<Recording['control']>) => cancel(),
      ({ steer, cancel }: ReturnType<Recording['control']>) => {
        steer([{ type: 'text', text: 'No, stop.' }]);
        cancel();
      },
    ]) {
      const recorded = await record({ ...scene, begins });
      const again = await replay({ ...scene, begins }, recorded.cassette);
      expect(again.seen).toBe(recorded.seen);
      expect(again.tape.check()).toBeUndefined();
      const alone = await replay(scene, recorded.cassette);
      expect(alone.seen).toBe(recorded.seen);
    }
  });

  test('from a gate that takes time, which a replay does not call again', async () => {
    let asked = 0;
    const gated: Scene = {
      ...scene,
      options: {
        async gate(call) {
          asked += 1;
          await pause(hastyRuntime(asked), 50);
          if (call.id === 'c1') throw new Error(`No for the ${asked}th time.`);
          return { type: 'allow', arguments: { asked } };
        },
      },
    };
    const recorded = await record(gated);
    expect(asked).toBe(2);
    expect(recorded.log).toContain('The permission gate failed: No for the 2th time.');
    const again = await replay(gated, recorded.cassette);
    expect(again.seen).toBe(recorded.seen);
    expect(asked).toBe(2);
  });

  test('in two runs of one recording, with the time between them', async () => {
    const both = async (tape: Recording) => {
      const world = hastyRuntime(7);
      const first = await show(scene, tape, world);
      await tape.moment('a person thinks');
      const second = await show(scene, tape, world);
      return [first.seen, second.seen];
    };
    const twice: Scene = {
      ...scene,
      script: [...(scene.script as MockReply[]), ...(scene.script as MockReply[])],
    };
    const world = hastyRuntime(3);
    let cassette = '';
    const { transport } = service(twice, world);
    const recorded = await both(
      recorder({ runtime: world, turn, transport, write: (line) => (cassette += line) }),
    );
    const again = player(cassette, { turn });
    expect(await both(again)).toEqual(recorded);
    expect(again.check()).toBeUndefined();
  });

  test('a recorded timer that the replay does not set is not a mismatch', async () => {
    const { cassette, log } = await record(scene);
    const lines = cassette.split('\n');
    const middle = Math.floor(lines.length / 2);
    const strange = [...lines.slice(0, middle), '{"at":1e9,"in":"timer 12345"}', ...lines.slice(middle)];
    const again = await replay(scene, strange.join('\n'));
    expect(again.log).toBe(log);
    expect(again.tape.check()).toBeUndefined();
  });

  test('after a mismatch, no request gets a response', async () => {
    const { cassette } = await record(scene);
    const tape = player(cassette, { turn });
    await expect(tape.moment('unheard of')).rejects.toThrow('no recording of moment 1');
    const { result } = await show(scene, tape, hastyRuntime(2));
    expect(result.error?.message).toContain('no recording of moment 1');
    expect(result.metrics.invocations).toBe(0);
  });

  test('after a mismatch, no live tool runs', async () => {
    const { cassette } = await record(scene);
    const runs: string[] = [];
    const tape = player(cassette, { turn, liveTools: () => true });
    const [tool] = tape.tools([{ ...touch, execute: () => runs.push('touch') }]);
    await expect(tape.moment('unheard of')).rejects.toThrow();
    const call = (cassette.match(/"call":"([^"]+)"/) ?? [])[1] ?? '';
    const context = { signal: new AbortController().signal, callId: 'c1', idempotencyKey: call };
    const more = { progress: () => {}, budget: new Budget() };
    await expect(tool?.execute({}, { ...context, ...more })).rejects.toThrow('no recording of moment 1');
    expect(runs).toEqual([]);
  });
});

describe('the transport of a recording', () => {
  const request = (signal: AbortSignal, url = 'https://service.test/ask') => {
    return { url, headers: {}, body: [new TextEncoder().encode('{"a":1}')], signal };
  };

  test('stops immediately when it is aborted, also during a replay', async () => {
    const { tape, written } = recording(hastyRuntime(1), { transport: () => new Promise(() => {}) });
    const asked = new AbortController();
    const answer = tape.transport(request(asked.signal));
    await still();
    asked.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    const again = new AbortController();
    const replayed = player(written.join(''), { turn }).transport(request(again.signal));
    await still();
    again.abort(new Error('enough again'));
    await expect(replayed).rejects.toThrow('enough again');
    await expect(tape.transport(request(AbortSignal.abort(new Error('before'))))).rejects.toThrow('before');
  });

  test('records no query values and no host [P19]', async () => {
    const { tape, written } = recording(hastyRuntime(1), {
      transport: () => Promise.reject(new Error('no')),
    });
    const url = 'https://user:pass-word@host.test/v1/ask?key=query-secret&version=2';
    await expect(tape.transport(request(new AbortController().signal, url))).rejects.toThrow('no');
    expect(written.join('')).toContain('"POST":"/v1/ask?key&version"');
    expect(written.join('')).not.toMatch(/query-secret|pass-word|host\.test/);
  });

  test('replays a failed connection with the same error', async () => {
    const refused = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });
    for (const thrown of [refused, new TypeError('fetch failed', { cause: refused })]) {
      const world = hastyRuntime(1);
      const { tape, written } = recording(world, { transport: () => Promise.reject(thrown) });
      const recorded = await show(scene, tape, world);
      expect(recorded.result.error).toMatchObject({ kind: 'network' });
      expect(recorded.result.error?.attempts).toBeGreaterThan(10);
      expect(recorded.result.error?.message).toContain('the connection was refused');
      expect((await replay(scene, written.join(''))).seen).toBe(recorded.seen);
    }
  });

  test('delivers the end of a body, even if it could be the start of a secret', async () => {
    const raw: Scene = {
      script: [
        {
          type: 'raw',
          status: 400,
          headers: { 'content-type': 'text/plain' },
          body: ['Keys begin with s', 'k-te'],
        },
      ],
    };
    const recorded = await record(raw);
    expect(recorded.result.error?.message).toContain('Keys begin with sk-te');
    expect((await replay(raw, recorded.cassette)).seen).toBe(recorded.seen);
  });

  test('does not retry a mismatch', async () => {
    const { cassette } = await record(scene);
    const { seen } = await replay({ ...scene, prompt: 'Something else.' }, cassette);
    expect(seen).not.toContain('"type":"retry"');
  });
});
