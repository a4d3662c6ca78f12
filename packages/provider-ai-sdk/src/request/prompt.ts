import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { AssistantPart, Json, ToolResultPart, UserPart } from '@cobbler/agent';
import type { ResultPart, Turn } from '@cobbler/agent/provider';
import { fileKind, fileText } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { optionsIn, textOptionsIn } from '../values/provider-metadata.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/** Where the files of a tool result are sent: inside it, or in a user message after all results if results are text. */
export type ResultFiles = 'inside' | 'behind';

/** Converts one turn to messages of the SDK. Tool results come first, in a separate message. */
export function writeTurn(turn: Turn, files: ResultFiles): readonly Json[] {
  const messages =
    turn.side === 'assistant'
      ? [{ role: 'assistant' as const, content: assistantContent(turn.parts) }]
      : userMessages(turn.parts, files);
  // The messages contain only JSON, but their types do not show it.
  return messages as unknown as readonly Json[];
}

function userMessages(
  parts: readonly (ResultPart | UserPart)[],
  files: ResultFiles,
): LanguageModelV4Message[] {
  const results = parts.filter((part) => part.type === 'tool_result');
  const areBehind = files === 'behind';
  const behind = areBehind ? results.flatMap(({ content }) => content.filter(isSentAsFile)) : [];
  const userParts = [...behind, ...parts.filter((part) => part.type !== 'tool_result')];
  const messages: LanguageModelV4Message[] = [];
  if (results.length > 0)
    messages.push({ role: 'tool', content: results.map((part) => writeResult(part, areBehind)) });
  if (userParts.length > 0) messages.push({ role: 'user', content: userParts.map(writePart) });
  return messages;
}

function isSentAsFile(part: ToolResultPart): boolean {
  return part.type === 'file' && fileKind(part.mediaType) !== 'text';
}

/** Returns a part of a result whose files are sent in a later message. */
function withoutFile(part: ToolResultPart): ToolResultPart {
  if (part.type === 'text' || !isSentAsFile(part)) return part;
  const noun = fileKind(part.mediaType) === 'image' ? 'image' : 'document';
  return { type: 'text', text: `(The ${noun} follows the results.)` };
}

/** Converts text documents to text, because some of the SDK's providers reject them and some omit them from results. */
function asText(part: ToolResultPart): ToolResultPart {
  if (part.type === 'text' || isSentAsFile(part)) return part;
  const title = part.name === undefined ? '' : `${part.name}:\n\n`;
  return { type: 'text', text: `${title}${fileText(part)}` || '(blank)' };
}

function writePart(given: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const part = asText(given);
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, data, name: filename } = part;
  return { type: 'file', mediaType, data: { type: 'data', data }, ...defined({ filename }) };
}

/** Converts a tool result. The SDK supports failed results only as text, so a failure with files states it in its text. */
function writeResult(part: ResultPart, areBehind: boolean): LanguageModelV4ToolResultPart {
  const { callId: toolCallId, toolName, isError } = part;
  const content = part.content.map((one) => asText(areBehind ? withoutFile(one) : one));
  const write = (): LanguageModelV4ToolResultOutput => {
    if (content.every((one) => one.type === 'text')) {
      const value = content.map(({ text }) => text).join('\n\n');
      return { type: isError ? 'error-text' : 'text', value };
    }
    const failed: ToolResultPart[] = isError ? [{ type: 'text', text: 'The tool failed.' }] : [];
    return { type: 'content', value: [...failed, ...content].map(writePart) };
  };
  return { type: 'tool-result', toolCallId, toolName, output: write() };
}

function assistantContent(parts: readonly AssistantPart[]): AssistantContent {
  const content: AssistantContent = [];
  /** Provider data of the texts that follow. */
  let texts: SharedV4ProviderOptions[] = [];
  for (const part of parts) {
    if (part.type === 'text') {
      content.push({ type: 'text', text: part.text, ...defined({ providerOptions: texts.shift() }) });
      continue;
    }
    const data = part.seal?.data;
    if (part.type === 'reasoning') {
      texts = textOptionsIn(data);
      const providerOptions = optionsIn(data, 'reasoning');
      if (providerOptions !== undefined)
        content.push({ type: 'reasoning', text: part.text, providerOptions });
    } else if (part.type === 'tool_call') {
      const { id: toolCallId, toolName, arguments: input } = part;
      const providerOptions = optionsIn(data, 'call');
      content.push({ type: 'tool-call', toolCallId, toolName, input, ...defined({ providerOptions }) });
    } else {
      const last = content.at(-1);
      if (last?.type === 'text') Object.assign(last, defined({ providerOptions: optionsIn(data, 'text') }));
    }
  }
  // A message must not be empty, and the parts may all have been seals of an older version.
  return content.length > 0 ? content : [{ type: 'text', text: '(blank)' }];
}
