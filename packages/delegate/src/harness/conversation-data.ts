import type { Message, ProviderDataPart, Usage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Totals } from '../events/backend-event.ts';
import { fieldsOf, numberOf, textOf } from '../events/fields.ts';

/** The log's record of the program's own conversation, which allows it to continue after a restart. */
export interface ConversationData {
  readonly session: string;
  readonly totals: Totals;
}

/** Returns a message part that only this backend reads; undefined before the conversation has an id. */
export function conversationPart(
  provider: string,
  { session, totals }: { session: string | undefined; totals: Totals },
): readonly ProviderDataPart[] {
  if (session === undefined) return [];
  const { usd, usage } = totals;
  const counts = usage === undefined ? {} : { input: usage.inputTokens, output: usage.outputTokens };
  const data = { session, ...defined({ usd }), ...counts };
  return [{ type: 'opaque', seal: { provider, data } }];
}

/** Returns the last stored value. */
export function conversationDataIn(
  messages: readonly Message[],
  provider: string,
): ConversationData | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== 'assistant') continue;
    const part = message.content.findLast((one) => one.type === 'opaque' && one.seal.provider === provider);
    if (part?.type !== 'opaque') continue;
    const data = fieldsOf(part.seal.data);
    const session = textOf(data['session']);
    if (session !== '') return { session, totals: totalsIn(data) };
  }
  return undefined;
}

function totalsIn(data: Readonly<Record<string, unknown>>): Totals {
  const usd = numberOf(data['usd']);
  const inputTokens = numberOf(data['input']);
  const outputTokens = numberOf(data['output']);
  const usage: Usage | undefined =
    inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens };
  return { ...defined({ usd, usage }) };
}
