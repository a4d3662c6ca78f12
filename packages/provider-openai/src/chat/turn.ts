import type { AssistantPart, Json, ToolResultPart, UserPart } from '@cobbler/agent';
import type { ResultPart, Turn } from '@cobbler/agent/provider';
import { fileKind } from '@cobbler/agent/provider';
import { assertNever, defined } from '@cobbler/agent/values';
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions/completions';
import { fieldsOf } from '../fields.ts';
import { audioFormat, dataURL, fileName } from '../media.ts';

/**
 * Converts one turn to messages: tool messages first, then at most one user message. Compatible servers get the
 * `extra_content` of a call back, without which Gemini rejects it (ai.google.dev/gemini-api/docs/thought-signatures);
 * OpenAI would reject the field.
 */
export function chatTurn(turn: Turn, official: boolean = true): readonly Json[] {
  const messages = turn.side === 'user' ? userMessages(turn.parts) : assistantMessages(turn.parts, official);
  // The messages are plain JSON, but the SDK's types do not show it.
  return messages as unknown as Json[];
}

/**
 * Converts results and user content. A tool message can contain only text, so other tool output follows in a user
 * message, after all tool messages of the turn (which must be consecutive) and before the user's content.
 */
function userMessages(parts: readonly (ResultPart | UserPart)[]): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = [];
  const attached: ChatCompletionContentPart[] = [];
  const userContent: ChatCompletionContentPart[] = [];
  for (const part of parts) {
    if (part.type !== 'tool_result') {
      userContent.push(contentPart(part));
      continue;
    }
    const media = part.content.filter((item) => item.type !== 'text');
    messages.push({ role: 'tool', tool_call_id: part.callId, content: toolText(part.content, media.length) });
    if (media.length > 0) attached.push(attachmentNote(part), ...media.map(contentPart));
  }
  const content = [...attached, ...userContent];
  const [only] = content;
  if (only === undefined) return messages;
  // Every server accepts a plain string.
  const plain = content.length === 1 && only.type === 'text';
  return [...messages, { role: 'user', content: plain ? only.text : content }];
}

function toolText(content: readonly ToolResultPart[], media: number): string {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return text === '' && media > 0 ? 'The result is attached to the next message.' : text;
}

function attachmentNote(part: ResultPart): ChatCompletionContentPart {
  return { type: 'text', text: `Attached by the tool ${part.toolName} (call ${part.callId}):` };
}

function contentPart(part: UserPart): ChatCompletionContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const kind = fileKind(part.mediaType);
  switch (kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: dataURL(part) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: audioFormat(part) } };
    case 'pdf':
    case 'text':
    case 'other':
      return { type: 'file', file: { filename: fileName(part), file_data: dataURL(part) } };
    default:
      return assertNever(kind);
  }
}

/** Converts text and calls. Chat Completions accepts no reasoning and has no order between text and calls. */
function assistantMessages(parts: readonly AssistantPart[], official: boolean): ChatCompletionMessageParam[] {
  let text = '';
  const calls: NonNullable<ChatCompletionAssistantMessageParam['tool_calls']> = [];
  for (const part of parts) {
    if (part.type === 'text') text += part.text;
    if (part.type === 'tool_call') {
      const call = { name: part.toolName, arguments: JSON.stringify(part.arguments) };
      const extra = official ? undefined : fieldsOf(part.seal?.data)['extra_content'];
      calls.push({ id: part.id, type: 'function', function: call, ...defined({ extra_content: extra }) });
    }
  }
  if (text === '' && calls.length === 0) return [];
  const content = text === '' ? null : text;
  return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }];
}
