import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { AssistantPart, FilePart, Json, ToolResultPart, UserPart } from '@cobbler/agent';
import { ignore } from '@cobbler/agent/events';
import type { ResultPart, Turn } from '@cobbler/agent/provider';
import { fileKind, fileText } from '@cobbler/agent/provider';
import { optionsIn, textOptionsIn } from '../values/provider-metadata.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/**
 * Where the files of a tool result are sent: inside it, or in a user message after all results if results are text.
 */
export type ResultFiles = 'inside' | 'behind';

/** Converts one turn to messages of the SDK. Tool results come first, in a separate message. */
export function writeTurn(turn: Turn, files: ResultFiles): readonly Json[] {
  const messages =
    turn.side === 'assistant' ? assistantMessages(turn.parts) : userMessages(turn.parts, files);
  // The messages contain only JSON, but their types do not show it.
  return messages as unknown as readonly Json[];
}

function assistantMessages(parts: readonly AssistantPart[]): LanguageModelV4Message[] {
  return [{ role: 'assistant', content: assistantContent(parts) }];
}

function userMessages(
  parts: readonly (ResultPart | UserPart)[],
  files: ResultFiles,
): LanguageModelV4Message[] {
  const given = parts.filter((part) => part.type === 'tool_result');
  const results = files === 'inside' ? given : given.map(withoutFiles);
  const behind = files === 'inside' ? [] : given.flatMap(({ content }) => content.filter(isSentAsFile));
  const said = [...behind, ...parts.filter((part) => part.type !== 'tool_result')];
  const messages: LanguageModelV4Message[] = [];
  if (results.length > 0) messages.push({ role: 'tool', content: results.map(writeResult) });
  if (said.length > 0) messages.push({ role: 'user', content: said.map(writePart) });
  return messages;
}

function isSentAsFile(part: ToolResultPart): boolean {
  return part.type === 'file' && fileKind(part.mediaType) !== 'text';
}

function withoutFiles(result: ResultPart): ResultPart {
  const content = result.content.map(
    (part): ToolResultPart =>
      part.type === 'file' && isSentAsFile(part)
        ? { type: 'text', text: `(The ${nounOf(part)} follows the results.)` }
        : part,
  );
  return { ...result, content: content.map(asText) };
}

function nounOf({ mediaType }: FilePart): string {
  return fileKind(mediaType) === 'image' ? 'image' : 'document';
}

/**
 * Converts text documents to text, because some of the SDK's providers reject them and some omit them from results.
 */
function asText(part: ToolResultPart): ToolResultPart {
  if (part.type === 'text' || isSentAsFile(part)) return part;
  const title = part.name === undefined ? '' : `${part.name}:\n\n`;
  return { type: 'text', text: `${title}${fileText(part)}` || '(blank)' };
}

function writePart(given: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const part = asText(given);
  return part.type === 'text' ? { type: 'text', text: part.text } : writeFile(part);
}

function writeFile(part: FilePart): LanguageModelV4FilePart {
  const file: LanguageModelV4FilePart = {
    type: 'file',
    mediaType: part.mediaType,
    data: { type: 'data', data: part.data },
  };
  if (part.name !== undefined) file.filename = part.name;
  return file;
}

function writeResult(part: ResultPart): LanguageModelV4ToolResultPart {
  const { callId: toolCallId, toolName } = part;
  return { type: 'tool-result', toolCallId, toolName, output: writeOutput(part) };
}

/**
 * Converts a tool result. The SDK supports failed results only as text, so a failure with files states it in its
 * text.
 */
function writeOutput({ content: given, isError }: ResultPart): LanguageModelV4ToolResultOutput {
  const content = given.map(asText);
  if (content.every((part) => part.type === 'text')) {
    const value = content.map(({ text }) => text).join('\n\n');
    return { type: isError ? 'error-text' : 'text', value };
  }
  const failed: ToolResultPart[] = isError ? [{ type: 'text', text: 'The tool failed.' }] : [];
  return { type: 'content', value: [...failed, ...content].map(writePart) };
}

function assistantContent(parts: readonly AssistantPart[]): AssistantContent {
  const content: AssistantContent = [];
  /** Provider data of the texts that follow. */
  let texts: SharedV4ProviderOptions[] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') texts = textOptionsIn(part.seal?.data);
    const written = writeAssistantPart(part, content);
    if (written?.type === 'text') withOptions(written, texts.shift());
    if (written !== undefined) content.push(written);
  }
  // A message must not be empty, and the parts may all have been seals of an older version.
  return content.length > 0 ? content : [{ type: 'text', text: '(blank)' }];
}

function writeAssistantPart(
  part: AssistantPart,
  before: AssistantContent,
): AssistantContent[number] | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning': {
      const providerOptions = optionsIn(part.seal?.data, 'reasoning');
      return providerOptions && { type: 'reasoning', text: part.text, providerOptions };
    }
    case 'opaque': {
      const last = before.at(-1);
      if (last?.type === 'text') withOptions(last, optionsIn(part.seal.data, 'text'));
      return undefined;
    }
    case 'tool_call': {
      const { id: toolCallId, toolName, arguments: input } = part;
      const written: LanguageModelV4ToolCallPart = { type: 'tool-call', toolCallId, toolName, input };
      return withOptions(written, optionsIn(part.seal?.data, 'call'));
    }
    default:
      return ignore<never>(part);
  }
}

function withOptions<Part extends { providerOptions?: SharedV4ProviderOptions }>(
  part: Part,
  options: SharedV4ProviderOptions | undefined,
): Part {
  if (options !== undefined) part.providerOptions = options;
  return part;
}
