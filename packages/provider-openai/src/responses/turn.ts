import type { AssistantPart, Json, ToolResultPart, UserPart } from '@cobbler/agent';
import type { ResultPart, Turn } from '@cobbler/agent/provider';
import { fileKind } from '@cobbler/agent/provider';
import { assertNever, defined } from '@cobbler/agent/values';
import type {
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import { isObject } from '../fields.ts';
import { dataURL, fileName } from '../media.ts';

/**
 * Converts one turn to input items, in the order of its parts.
 * @param thinks true if the model accepts reasoning items
 */
export function responsesTurn(turn: Turn, thinks: boolean): readonly Json[] {
  const items = turn.side === 'user' ? userItems(turn.parts) : assistantItems(turn.parts, thinks);
  // The items are plain JSON, but the SDK's types do not show it.
  return items as unknown as Json[];
}

function userItems(parts: readonly (ResultPart | UserPart)[]): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  const content: ResponseInputContent[] = [];
  for (const part of parts) {
    if (part.type === 'tool_result') {
      items.push({ type: 'function_call_output', call_id: part.callId, output: outputOf(part.content) });
    } else content.push(inputContent(part));
  }
  if (content.length > 0) items.push({ type: 'message', role: 'user', content });
  return items;
}

/** Converts the output of a tool. Text alone is sent as a string; images and files need a list. There is no error flag. */
function outputOf(content: readonly ToolResultPart[]): string | ResponseFunctionCallOutputItem[] {
  const [only] = content;
  if (only === undefined) return '';
  return content.length === 1 && only.type === 'text' ? only.text : content.map(inputContent);
}

function inputContent(part: UserPart): ResponseInputContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const kind = fileKind(part.mediaType);
  switch (kind) {
    case 'image':
      return { type: 'input_image', image_url: dataURL(part), detail: 'auto' };
    // This API has no audio part yet (openai-node 6, `ResponseInputContent`).
    case 'audio':
    case 'pdf':
    case 'text':
    case 'other':
      return { type: 'input_file', filename: fileName(part), file_data: dataURL(part) };
    default:
      return assertNever(kind);
  }
}

/**
 * Converts the parts of a response. Items sealed by this provider are sent back unchanged, in their position. The
 * service ties a reasoning item to the item after it, by id, and rejects either without the other for the rest of the
 * conversation ("... was provided without its required following item", "... without its required 'reasoning' item").
 * So:
 *
 * T1. Reasoning is sent back only directly before an item of the same response, never at the end of a turn.
 * T2. Ids are sent back only after reasoning that is sent back.
 */
function assistantItems(parts: readonly AssistantPart[], thinks: boolean): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  let thoughts: ResponseInputItem[] = [];
  let tied = false;
  let head: MessageHead | undefined;
  const add = (make: (tied: boolean) => ResponseInputItem) => {
    tied ||= thoughts.length > 0;
    items.push(...thoughts, make(tied));
    thoughts = [];
  };
  for (const part of parts) {
    if (part.type === 'text') {
      const known = thinks ? head : undefined;
      head = undefined;
      // Text that is not known to be the service's own did not follow this reasoning.
      if (known?.id === undefined) thoughts = [];
      add((ids) => message(part.text, known, ids));
    } else if (part.type === 'tool_call') add((ids) => functionCall(part, ids));
    else if (part.seal !== undefined) {
      const { data } = part.seal;
      // Only users see them: the service accepts texts without them.
      if (isObject(data) && data['type'] === 'sources') continue;
      head = messageHead(data);
      // Sealed items are input items: they came from the service.
      const item = data as unknown as ResponseInputItem;
      if (head === undefined && !(isObject(data) && data['type'] === 'reasoning')) add(() => item);
      else if (head === undefined && thinks) thoughts.push(item);
    }
  }
  return items;
}

/** Data of a message item besides its text, stored as a part before it: its id, and the `phase` that is sent back. */
export interface MessageHead {
  readonly type: 'message';
  readonly id?: string;
  readonly phase?: MessagePhase;
}

type MessagePhase = 'commentary' | 'final_answer';

/** Returns the head of a message; undefined for other data. */
export function messageHead(data: unknown): MessageHead | undefined {
  if (!isObject(data) || data['type'] !== 'message') return undefined;
  const { id, phase } = data;
  return {
    type: 'message',
    ...(typeof id === 'string' && { id }),
    ...((phase === 'commentary' || phase === 'final_answer') && { phase }),
  };
}

function message(text: string, head: MessageHead | undefined, tied: boolean): ResponseInputItem {
  const phase = head?.phase === undefined ? {} : { phase: head.phase };
  if (head?.id === undefined || !tied) return { type: 'message', role: 'assistant', content: text, ...phase };
  const content = [{ type: 'output_text' as const, text, annotations: [] }];
  return { type: 'message', id: head.id, role: 'assistant', status: 'completed', content, ...phase };
}

function functionCall(
  part: AssistantPart & { readonly type: 'tool_call' },
  tied: boolean,
): ResponseInputItem {
  const sealed = part.seal?.data;
  const id = tied && isObject(sealed) && typeof sealed['id'] === 'string' ? sealed['id'] : undefined;
  return {
    type: 'function_call',
    ...defined({ id }),
    call_id: part.id,
    name: part.toolName,
    arguments: JSON.stringify(part.arguments),
  };
}
