import type { ResponseSink, Wire } from '@cobbler/agent/provider';
import { cachedCredentials, createAgent } from '@cobbler/agent/provider';
import type { ContractCase, ProviderTesting, UnsupportedFeature } from '@cobbler/agent/testing';
import { scriptCapabilities, scriptTesting, scriptWire } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import type { ContractSubject } from '../src/agent/setup/subject.ts';
import { runContract } from '../src/report/run-contract.ts';

function subject(
  change: Partial<ReturnType<typeof scriptWire>> = {},
  testing: ProviderTesting = scriptTesting,
): ContractSubject {
  return {
    name: 'changed',
    create: ({ baseURL, apiKey, ...options }) =>
      createAgent(
        { ...scriptWire({ baseURL, apiKey }), ...change },
        { model: 'm', capabilities: scriptCapabilities, ...options },
      ),
    testing,
  };
}

/** Returns the functions of a sink, bound to it. */
function bound(out: ResponseSink): ResponseSink {
  return {
    begin: (...told) => out.begin(...told),
    text: (...told) => out.text(...told),
    reasoning: (...told) => out.reasoning(...told),
    seal: (...told) => out.seal(...told),
    call: (...told) => out.call(...told),
    input: (...told) => out.input(...told),
    delta: (...told) => out.delta(...told),
    close: (...told) => out.close(...told),
    ignore: (...told) => out.ignore(...told),
    usage: (...told) => out.usage(...told),
    model: (...told) => out.model(...told),
    stop: (...told) => out.stop(...told),
    end: (...told) => out.end(...told),
    fail: (...told) => out.fail(...told),
  };
}

function only(cases: readonly ContractCase[], group: string): ContractCase[] {
  return cases.filter((member) => member.group === group);
}

describe('a request that the service would reject', () => {
  it.each([
    ['/asks', 'authorization', /The path is \/asks instead of \/ask\./],
    ['/ask', 'x-api-key', /The header authorization with the key is missing/],
  ])('to %s with its key in %s is named in the failure', async (path, header, complaint) => {
    const create: ContractSubject['create'] = ({ baseURL, apiKey, ...options }) => {
      const endpoint = { url: `${baseURL}${path}`, headers: { [header]: `Bearer ${apiKey}` } };
      const wire = { ...scriptWire({ baseURL, apiKey }), endpoint };
      return createAgent(wire, { model: 'm', capabilities: scriptCapabilities, ...options });
    };
    const { failures } = await runContract(
      only(agentContract({ ...subject(), create }), 'answers').slice(0, 1),
    );
    expect(failures[0]?.message).toMatch(complaint);
  });
});

describe('the cases about keys that expire', () => {
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  type Load = () => Promise<ReturnType<typeof bearer>>;

  it.each<[string, (load: Load) => NonNullable<Wire['authorize']>, string | undefined]>([
    ['renews its key', (load) => cachedCredentials(load), undefined],
    [
      'keeps its key',
      (load) => {
        let kept: ReturnType<Load> | undefined;
        return () => (kept ??= load());
      },
      'a key that expires is replaced at once, without a retry',
    ],
    ['asks for a key for each request', (load) => load, 'requests at the same time share one new key'],
  ])('notice whether a wire %s', async (_, authorizeWith, failing) => {
    const create: ContractSubject['create'] = ({ baseURL, apiKey, currentKey, ...options }) => {
      const authorize = authorizeWith(async () => bearer(currentKey ? await currentKey() : apiKey));
      const wire = { ...scriptWire({ baseURL, apiKey }), authorize };
      return createAgent(wire, { model: 'm', capabilities: scriptCapabilities, ...options });
    };
    const cases = agentContract({ ...subject(), create, rotates: true });
    const { passed, failures } = await runContract(only(cases, 'credentials'));
    const names = failures.map(({ name }) => name);
    if (failing === undefined) expect([passed, names]).toEqual([7, []]);
    else expect(names).toContain(failing);
  });

  it('are only for wires that ask for their key', () => {
    expect(only(agentContract(subject()), 'credentials')).toEqual([]);
  });
});

describe('a contract without a test runner', () => {
  const fine: ContractCase = { group: 'one', name: 'holds', run: async () => {} };
  const bad: ContractCase = {
    group: 'two',
    name: 'does not',
    run: () => Promise.reject(new Error('it did not')),
  };

  it('prints a line per group and counts cases that are off separately', async () => {
    const lines: string[] = [];
    const totals = await runContract(
      [fine, { ...fine, off: 'It has no tools.' }, { ...bad, group: 'one', off: 'It has no tools.' }, bad],
      (line) => lines.push(line),
    );
    expect(lines).toEqual([
      'one      1/1  off 2 (It has no tools.)',
      'two      0/1',
      '  failed: does not: it did not',
    ]);
    expect(totals).toEqual({
      total: 2,
      passed: 1,
      off: 2,
      failures: [{ group: 'two', name: 'does not', message: 'it did not' }],
    });
  });

  it('never runs a case that is off', async () => {
    expect((await runContract([{ ...bad, off: 'Not here.' }])).failures).toEqual([]);
  });
});

describe('the agent contract', () => {
  it('has at least 200 cases, each with a unique name within its group', () => {
    const names = agentContract(subject()).map(({ group, name }) => `${group}: ${name}`);
    expect(names.length).toBeGreaterThan(200);
    expect(new Set(names).size).toBe(names.length);
  });

  it('switches a case off only if a feature is unsupported, with the reason', () => {
    const lacks = { sampling: 'It has no temperature.' };
    const off = agentContract(subject({}, { ...scriptTesting, lacks })).filter(
      (member) => member.off !== undefined,
    );
    expect(off.length).toBeGreaterThan(0);
    expect(new Set(off.map((member) => member.off))).toEqual(new Set(['It has no temperature.']));
    expect(agentContract(subject()).filter((member) => member.off !== undefined)).toEqual([]);
  });

  it('reports what a failed case found and where to look', async () => {
    const ended = new WeakSet<ResponseSink>();
    const event = (_payload: unknown, out: ResponseSink) => {
      if (!ended.has(out)) out.end('complete');
      ended.add(out);
    };
    const mute = agentContract(subject({ event, read: () => false }));
    const { failures } = await runContract(only(mute, 'answers').slice(0, 1));
    expect(failures[0]?.message).toMatch(/: expected "The answer is forty-two\.".*Check `event` of the wire/);
  });

  it('switches the case of invalid UTF-8 off if checksums reject such bytes', () => {
    const lacks = { 'checked-text': 'Each frame has a checksum.' };
    const off = agentContract(subject({}, { ...scriptTesting, lacks })).filter(
      (one) => one.off !== undefined,
    );
    expect(off.map(({ name }) => name)).toEqual(['invalid UTF-8 makes the response invalid [P27]']);
  });

  it('skips checks of model names and cache-write counts if they are unsupported', async () => {
    const plain = scriptWire({ baseURL: 'http://127.0.0.1', apiKey: 'k' });
    const mute = (out: ResponseSink): ResponseSink => ({
      ...bound(out),
      model: () => out.ignore('model'),
      usage: ({ cacheWriteTokens: _, ...usage }) => out.usage(usage),
    });
    const change = {
      event: (payload: unknown, out: ResponseSink) => plain.event(payload, mute(out)),
      ignored: { model: 'This wire does not report it.' },
    };
    const groups = ['answers', 'usage', 'capabilities', 'blocks'];
    const failing = async (lacks: ProviderTesting['lacks']) => {
      const cases = agentContract(subject(change, { ...scriptTesting, lacks }));
      const asked = cases.filter(({ group }) => groups.includes(group));
      return (await runContract(asked)).failures.map(({ name }) => name);
    };
    expect(await failing({})).toContain(
      'the response contains the model that responded, even if another one was requested',
    );
    const reason = 'The service does not report it.';
    expect(await failing({ 'model-name': reason, 'cache-write-usage': reason })).toEqual([]);
  });

  it('fails a wire with more than six unsupported features', async () => {
    const names: UnsupportedFeature[] = [
      'seal',
      'model-name',
      'cache-usage',
      'sampling',
      'pause',
      'interleaving',
      'whole-content',
    ];
    const lacks = Object.fromEntries(names.map((name) => [name, 'It was never implemented.']));
    const cases = agentContract(subject({}, { ...scriptTesting, lacks }));
    expect((await runContract(only(cases, 'lacks'))).failures[0]?.message).toContain(
      'at most 6 entries in `lacks`, found 7',
    );
    const patient = agentContract(subject({}, { ...scriptTesting, lacks }), { maxLacks: 7 });
    expect((await runContract(only(patient, 'lacks'))).failures).toEqual([]);
  });

  it('fails a wire with an unsupported feature without a reason', async () => {
    const cases = agentContract(subject({}, { ...scriptTesting, lacks: { pause: 'no' } }));
    expect((await runContract(only(cases, 'lacks'))).failures).toHaveLength(1);
  });

  it('names the seed for which a law fails, and that seed alone fails again', async () => {
    const changed = subject({
      turn: ({ side }) => [{ side, parts: [{ type: 'text', text: 'always the same' }] }],
    });
    const { failures } = await runContract(only(agentContract(changed, { seeds: { count: 20 } }), 'laws'));
    const seed = Number(/^seed (\d+): /.exec(failures[0]?.message ?? '')?.[1]);
    expect(seed).toBeGreaterThan(0);
    const again = await runContract(
      only(agentContract(changed, { seeds: { first: seed, count: 1 } }), 'laws'),
    );
    expect(again.failures[0]?.message).toBe(failures[0]?.message);
  });

  it('fails a wire whose requests the service rejects, with the message of the service', async () => {
    const changed = subject({
      turn: ({ parts }) => [{ side: 'assistant', parts: JSON.parse(JSON.stringify(parts)) }],
    });
    const { failures } = await runContract(only(agentContract(changed), 'answers'));
    expect(failures.length).toBeGreaterThan(10);
    expect(failures.map(({ message }) => message).join()).toContain('turn 0 has the wrong role');
  });
});
