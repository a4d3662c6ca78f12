import { createHarness } from '../src/harness/harness.ts';
import type { Gate } from '../src/interfaces/gate.ts';
import type { Tool } from '../src/interfaces/tool.ts';
import { Executor } from '../src/loop/executor.ts';
import type { GateDoor, Play } from '../src/testing/index.ts';
import { callBlock, plays, scriptAnswer, scriptedAgent } from '../src/testing/index.ts';
import { record } from './cassette/rig.ts';

const call = { command: 'date', options: { utc: true }, list: ['a'] } as const;

/** A tool that keeps what it was run with. */
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

/** Where the loop asks a gate. */
export const gateDoors: readonly GateDoor[] = [
  door('the loop', async (gate, tool) => {
    await new Executor({ agent: agent(), tools: [tool], gate }).run('Go.');
  }),
  door('a harness', async (gate, tool) => {
    const harness = createHarness({ agent: agent(), tools: [tool], gate });
    await harness.prompt('Go.');
    await harness.close();
  }),
  door('a gate on a tape', async (gate, tool) => {
    const script: Play[] = [
      plays(scriptAnswer([callBlock('c1', 'run', structuredClone(call))])),
      plays(scriptAnswer(['Done.'])),
    ];
    await record({ script, tools: () => [tool], options: { gate } });
  }),
];
