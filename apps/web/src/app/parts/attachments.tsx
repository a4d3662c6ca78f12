import type { UserPart } from '@cobbler/agent';
import type { VNode } from 'preact';
import { size } from './format.ts';
import { Icon } from './icons.tsx';

/** Image types that a browser shows and that cannot contain a script. */
const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

/** Matches a text that is a file, or a note of a chat in the terminal. */
const textHeading = /^(?:File (.+):\n\n|<attachment name="(.+)">\n)/;

/** Returns the text part of a file. */
export function textFile(name: string, text: string): UserPart {
  return { type: 'text', text: `File ${name}:\n\n${text}` };
}

/** Splits a message into what the user typed and what is attached. */
export function messageOf(content: readonly UserPart[]): { text: string; attached: readonly UserPart[] } {
  const isTyped = (part: UserPart) => part.type === 'text' && !textHeading.test(part.text);
  const typed = content.flatMap((part) => (part.type === 'text' && isTyped(part) ? part.text : []));
  return { text: typed.join('\n\n'), attached: content.filter((part) => !isTyped(part)) };
}

interface AttachmentsProps {
  readonly parts: readonly UserPart[];
  /** Removes the part at an index. Absent: the message was sent. */
  readonly remove?: (at: number) => void;
}

/** Files and texts with their names and sizes; of images, a preview. */
export function Attachments({ parts, remove }: AttachmentsProps): VNode | null {
  const attached = remove === undefined ? messageOf(parts).attached : parts;
  if (attached.length === 0) return null;
  return (
    <ul class="parts" aria-label="Attachments">
      {attached.map((part, index) => {
        const { name, bytes } = factsOf(part, index);
        const isImage = part.type === 'file' && imageTypes.test(part.mediaType);
        return (
          <li key={index} class={`chip${isImage && remove === undefined ? ' large' : ''}`}>
            {isImage && <img src={`data:${part.mediaType};base64,${part.data}`} alt={name} />}
            <span class="name">{name}</span>
            <span class="muted">{size(bytes)}</span>
            {remove !== undefined && (
              <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => remove(index)}>
                <Icon name="close" />
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function factsOf(part: UserPart, index: number): { name: string; bytes: number } {
  if (part.type === 'file')
    return { name: part.name ?? `Attachment ${index + 1}`, bytes: Math.floor((part.data.length * 3) / 4) };
  const [heading = '', file, note] = textHeading.exec(part.text) ?? [];
  const bytes = new TextEncoder().encode(part.text.slice(heading.length)).length;
  return { name: file ?? note ?? 'text', bytes };
}
