import type { Gate, Tool } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import { recorder } from '@cobbler/agent/cassette';
import { createHarness } from '@cobbler/agent/harness';
import { createAgent } from '@cobbler/agent/provider';
import type { MockReply } from '@cobbler/agent/testing';
import {
  callBlock,
  handlerTransport,
  replies,
  scriptCapabilities,
  scriptedAgent,
  scriptModel,
  scriptResponse,
  scriptTesting,
  scriptWire,
  wireServer,
} from '@cobbler/agent/testing';
import type { GateDoor } from '../src/gate/gate-contract.ts';

const call = { command: 'date', options: { utc: true }, list: ['a'] } as const;

/** A tool that records the arguments of its runs. */
function runner(): { readonly tool: Tool; readonly ran: Record<string, unknown>[] } {
  const ran: Record<string, unknown>[] = [];
  const execute = (args: Record<string, unknown>) => {
    ran.push(structuredClone(args));
    return 'done';
  };
  return { ran, tool: { name: 'run', description: 'Runs.', parameters: { type: 'object' }, execute } };
}

function door(name: string, play: (gate: Gate, tool: Tool) => Promise<unknown>): GateDoor {
  return {
    name,
    call,
    takesChanges: true,
    async pass(decide) {
      const { tool, ran } = runner();
      await play(((shown) => decide(shown.arguments)) as Gate, tool);
      return ran[0];
    },
  };
}

const agent = () => scriptedAgent([{ calls: [{ name: 'run', arguments: structuredClone(call) }] }, 'Done.']);

/** The places where the loop calls a gate. */
export const gateDoors: readonly GateDoor[] = [
  door('the loop', async (gate, tool) => {
    await new Executor({ agent: agent(), tools: [tool], gate }).run('Go.');
  }),
  door('a harness', async (gate, tool) => {
    const harness = createHarness({ agent: agent(), tools: [tool], gate });
    await harness.prompt('Go.');
    await harness.close();
  }),
  door('a recorded gate', async (gate, tool) => {
    const script: MockReply[] = [
      replies(scriptResponse([callBlock('c1', 'run', structuredClone(call))])),
      replies(scriptResponse(['Done.'])),
    ];
    const secret = 'sk-test-0123456789';
    const { handler } = wireServer(scriptTesting, script, { secret });
    const tape = recorder({ transport: handlerTransport(handler), write: () => undefined });
    const link = { model: scriptModel, capabilities: scriptCapabilities };
    const wire = scriptWire({ baseURL: 'https://service.test', apiKey: secret });
    const { runtime, transport } = tape;
    const recorded = createAgent(wire, { ...link, runtime, transport });
    await new Executor({ agent: recorded, runtime, tools: tape.tools([tool]), gate: tape.gate(gate) }).run(
      'Go.',
    );
  }),
];
