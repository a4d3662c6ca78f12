import type { Gate, GateCall, Tool } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import type { ProbeTools } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';

const the = group('untrusted');

/** Tools that read what other people wrote, send data, and do neither; a gate that denies what a user must decide. */
interface Probe extends ProbeTools {
  readonly judged: readonly GateCall[];
  readonly options: { readonly tools: readonly Tool[]; readonly gate: Gate };
}

function untrustedProbe(fetch: Partial<Tool> = { untrusted: true }): Probe {
  const probe = probeTools();
  const judged: GateCall[] = [];
  const gate: Gate = (call) => {
    judged.push(call);
    return call.mustAsk === undefined ? 'allow' : 'deny';
  };
  const tools = [probe.tool('fetch', fetch), probe.tool('mail', { sends: true }), probe.tool('note')];
  return { ...probe, judged, options: { tools, gate } };
}

function reasons({ judged }: Probe): readonly string[] {
  return judged.map(
    ({ toolName, mustAsk }) => `${toolName}: ${mustAsk?.includes('output from fetch') ?? false}`,
  );
}

export const untrustedCases: readonly ExecutorCase[] = [
  the(
    'a call that sends data requires a decision once the model has read untrusted output [P21]',
    async (setup) => {
      const probe = untrustedProbe();
      const agent = scriptedModel([
        calls(['mail']),
        calls(['fetch']),
        calls(['note', 'mail']),
        textResponse('Done.'),
      ]);
      const { messages } = await setup.play({ agent, ...probe.options });
      expectEqual(
        reasons(probe),
        ['mail: false', 'fetch: false', 'note: false', 'mail: true'],
        'the calls, and whether the gate received the reason',
      );
      expectEqual(probe.names, ['mail', 'fetch', 'note'], 'the tools that ran without a user');
      expect(resultTexts(messages)[3] !== 'mail done', 'the model to learn that the call did not run');
    },
  ),
  the('calls of the response that reads untrusted output are decided without it [P21]', async (setup) => {
    const probe = untrustedProbe();
    const agent = scriptedModel([calls(['fetch', 'mail']), textResponse('Done.')]);
    await setup.play({ agent, ...probe.options });
    expectEqual(probe.names, ['fetch', 'mail'], 'the tools that ran');
  }),
  the('a tool can mark one output as untrusted, and the result says so [P21]', async (setup) => {
    const execute = () => toolOutput({ content: 'From outside.', untrusted: true });
    const probe = untrustedProbe({ execute });
    const agent = scriptedModel([calls(['note']), calls(['fetch']), calls(['mail']), textResponse('Done.')]);
    const run = setup.run({ agent, ...probe.options });
    await setup.until(run);
    const marks = ofType(setup.storedOf(run), 'tool_result').map(({ untrusted }) => untrusted);
    expectEqual(marks, [undefined, true, undefined], 'the marks of the results');
    expectEqual(reasons(probe).at(-1), 'mail: true', 'the last call');
  }),
  the('later runs of a session still require the decision [P21]', async (setup) => {
    const first = untrustedProbe();
    const agent = scriptedModel([calls(['fetch']), textResponse('Done.')]);
    await setup.until(setup.run({ agent, ...first.options }, 'Go.', { sessionId: 'one' }));
    const second = untrustedProbe();
    const next = scriptedModel([calls(['mail']), textResponse('Done.')]);
    await setup.until(setup.run({ agent: next, ...second.options }, 'Send it.', { sessionId: 'one' }));
    expectEqual(second.names, [], 'the tools that ran');
  }),
];
