import type {
  Base64ImageSource,
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  TextCitationParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { FilePart, Json, ProviderDataPart, ReasoningPart, ToolResultPart } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { ResultPart, Turn } from '@cobbler/agent/provider';
import { fileKind, fileText } from '@cobbler/agent/provider';
import { assertNever, defined } from '@cobbler/agent/values';
import { fieldsOf, isFields } from './fields.ts';
import { citationIn } from './search.ts';

/** Converts a turn to a message. `content` is last and never empty, so that a cache mark fits into its last block. */
export function writeTurn(turn: Turn): readonly Json[] {
  const content: ContentBlockParam[] = [];
  const { side, parts } = turn;
  const isOver = side === 'user' || turn.continues !== true;
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] as (typeof parts)[number];
    if (part.type === 'text') content.push({ type: 'text', text: part.text });
    else if (part.type === 'tool_call')
      content.push({ type: 'tool_use', id: part.id, name: part.toolName, input: part.arguments });
    else if (part.type === 'opaque' && citationIn(part.seal.data) !== undefined) {
      const cited = content.at(-1);
      const citation = citationIn(part.seal.data) as TextCitationParam;
      if (cited?.type === 'text') cited.citations = [...(cited.citations ?? []), citation];
    } else {
      const block = part.type === 'tool_result' ? writeResult(part) : writePart(part);
      if (
        block !== undefined &&
        !(isOver && block.type === 'server_tool_use' && isUnanswered(block.id, parts))
      )
        content.push(block);
    }
  }
  if (content.length === 0) content.push(blank);
  const message: MessageParam = { role: side, content };
  return [message as unknown as Json];
}

/** Returns true if a call of the service's own tool has no result. Only the turn that is continued may contain such a call. */
function isUnanswered(id: string, parts: Turn['parts']): boolean {
  return !parts.some((part) => part.type === 'opaque' && fieldsOf(part.seal.data)['tool_use_id'] === id);
}

/** Replaces empty content, such as seals that only an older version could read, because a message must not be empty. */
const blank: TextBlockParam = { type: 'text', text: '(blank)' };

function writeResult(part: ResultPart): ToolResultBlockParam {
  const content: (TextBlockParam | ImageBlockParam | DocumentBlockParam)[] = [];
  for (let index = 0; index < part.content.length; index += 1) {
    const item = part.content[index] as ToolResultPart;
    content.push(item.type === 'text' ? { type: 'text', text: item.text } : writeFile(item));
  }
  const block: ToolResultBlockParam = { type: 'tool_result', tool_use_id: part.callId };
  if (content.length > 0) block.content = content;
  if (part.isError) block.is_error = true;
  return block;
}

/** Converts a file. Images and PDF files are sent unchanged and text as text; the service accepts no other kinds. */
function writeFile(file: FilePart): ImageBlockParam | DocumentBlockParam {
  const { mediaType, data } = file;
  const kind = fileKind(mediaType);
  switch (kind) {
    case 'image': {
      const media_type = mediaType as Base64ImageSource['media_type'];
      return { type: 'image', source: { type: 'base64', media_type, data } };
    }
    case 'pdf':
      return document(file, { type: 'base64', media_type: 'application/pdf', data });
    case 'text':
      return document(file, { type: 'text', media_type: 'text/plain', data: fileText(file) });
    case 'audio':
    case 'other':
      throw new AgentError({
        kind: 'invalid',
        code: 'document_type',
        provider: 'claude',
        message: `Claude accepts documents as PDF or text, not as ${mediaType}. Convert the document, or send its text.`,
      });
    default:
      return assertNever(kind);
  }
}

function document({ name }: FilePart, source: DocumentBlockParam['source']): DocumentBlockParam {
  return { type: 'document', source, ...defined({ title: name }) };
}

/** Converts one part; undefined for one that this version cannot send. */
function writePart(part: ReasoningPart | ProviderDataPart | FilePart): ContentBlockParam | undefined {
  switch (part.type) {
    case 'reasoning': {
      const signature = signatureOf(part.seal?.data);
      return signature === undefined ? undefined : { type: 'thinking', thinking: part.text, signature };
    }
    case 'opaque':
      return isBlock(part.seal.data) ? part.seal.data : undefined;
    case 'file':
      return writeFile(part);
  }
}

function signatureOf(data: unknown): string | undefined {
  return isFields(data) && typeof data['signature'] === 'string' ? data['signature'] : undefined;
}

/** Returns true for a block that {@link readEvent} has stored unchanged. */
function isBlock(data: unknown): data is ContentBlockParam & { readonly [key: string]: Json } {
  return isFields(data) && typeof data['type'] === 'string';
}
