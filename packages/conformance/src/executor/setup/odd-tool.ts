import type { Tool } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';

/** What an odd tool does otherwise. */
export type Rest = Partial<Omit<Tool, 'name'>>;

/** What the model is told of a tool. */
export interface ObservedToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** Time that it took by the clock of the stage, in milliseconds. */
  readonly took: number;
}

/** What the model asks for. */
export const given: Record<string, unknown> = { path: 'a.txt', list: ['one', { deep: true }] };

/**
 * Runs a tool that behaves oddly and one beside it. Whatever the first one does: the run completes, the other
 * tool runs, and what is stored is plain data in which the arguments stand as the model gave them.
 */
export async function toldOf(stage: RunFixture, rest: Rest): Promise<ObservedToolResult> {
  const { tool, names } = probeTools();
  const before = stage.elapsed;
  const agent = scriptedModel([
    calls([{ name: 'odd', arguments: structuredClone(given) }, 'other']),
    textResponse('On.'),
  ]);
  const tools = [tool('odd', rest), tool('other')];
  const run = stage.run({ agent, tools });
  const result = await stage.until(run);
  expectEqual([result.status, result.text], ['complete', 'On.'], 'the end');
  expectEqual(names.at(-1), 'other', 'the tool that ran last');
  const stored = stage.storedOf(run);
  expectEqual(JSON.parse(JSON.stringify(stored)), stored, 'what is stored, after JSON');
  const begun = ofType(stored, 'tool_started').find(({ toolName }) => toolName === 'odd');
  if (begun !== undefined) expectEqual(begun.arguments, given, 'the arguments recorded');
  const [said] = ofType(stored, 'assistant');
  expectEqual(callIn(said?.content), given, 'the arguments in the conversation');
  expectEqual(callIn(agent.requests[1]?.messages[1]?.content), given, 'the arguments sent back');
  const [first] = resultsOf(result.messages);
  return {
    text: resultTexts(result.messages)[0] ?? '',
    isError: first?.isError === true,
    took: stage.elapsed - before,
  };
}

/** What needs no time takes none but that of a slow store. */
export function expectAtOnce({ took }: ObservedToolResult): void {
  expect(took < 1000, `an end at once, found ${took} ms`);
}

/** The arguments of the first call in an answer. */
export function callIn(content: readonly { readonly type: string }[] = []): unknown {
  const call = content.find(({ type }) => type === 'tool_call');
  return call !== undefined && 'arguments' in call ? call.arguments : undefined;
}
