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

/** The fields in which an unusual tool differs from a normal one. */
export type Rest = Partial<Omit<Tool, 'name'>>;

/** A tool result as the model receives it. */
export interface ObservedToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** Duration by the clock of the fixture, in milliseconds. */
  readonly took: number;
}

/** The arguments that the model sends. */
export const given: Record<string, unknown> = { path: 'a.txt', list: ['one', { deep: true }] };

/**
 * Runs an unusual tool and a normal one. Whatever the unusual tool does, the run completes, the other tool
 * runs, and the stored events are plain data with the original arguments of the model.
 */
export async function resultOf(setup: RunFixture, rest: Rest): Promise<ObservedToolResult> {
  const { tool, names } = probeTools();
  const before = setup.elapsed;
  const agent = scriptedModel([
    calls([{ name: 'odd', arguments: structuredClone(given) }, 'other']),
    textResponse('On.'),
  ]);
  const tools = [tool('odd', rest), tool('other')];
  const run = setup.run({ agent, tools });
  const result = await setup.until(run);
  expectEqual([result.status, result.text], ['complete', 'On.'], 'the outcome');
  expectEqual(names.at(-1), 'other', 'the last tool that ran');
  const stored = setup.storedOf(run);
  expectEqual(JSON.parse(JSON.stringify(stored)), stored, 'the stored events, after JSON');
  const started = ofType(stored, 'tool_started').find(({ toolName }) => toolName === 'odd');
  if (started !== undefined) expectEqual(started.arguments, given, 'the arguments recorded');
  const [response] = ofType(stored, 'assistant');
  expectEqual(callIn(response?.content), given, 'the arguments in the conversation');
  expectEqual(callIn(agent.requests[1]?.messages[1]?.content), given, 'the arguments sent back');
  const [first] = resultsOf(result.messages);
  return {
    text: resultTexts(result.messages)[0] ?? '',
    isError: first?.isError === true,
    took: setup.elapsed - before,
  };
}

/** Fails if a call without a wait took longer than a slow store accounts for. */
export function expectAtOnce({ took }: ObservedToolResult): void {
  expect(took < 1000, `an end without delay, found ${took} ms`);
}

/** Returns the arguments of the first call in a response. */
export function callIn(content: readonly { readonly type: string }[] = []): unknown {
  const call = content.find(({ type }) => type === 'tool_call');
  return call !== undefined && 'arguments' in call ? call.arguments : undefined;
}
