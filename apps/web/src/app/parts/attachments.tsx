import type { UserPart } from '@cobbler/agent';
import type { VNode } from 'preact';
import { size } from './format.ts';

/** Image types that a browser shows and that cannot contain a script. */
const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

/** The files among the parts. */
export function Attachments({ parts }: { readonly parts: readonly UserPart[] }): VNode | null {
  const shown = parts.filter((part) => part.type === 'file');
  if (shown.length === 0) return null;
  return (
    <div class="parts">
      {shown.map((part, index) =>
        imageTypes.test(part.mediaType) ? (
          <img
            key={index}
            src={`data:${part.mediaType};base64,${part.data}`}
            alt={part.name ?? `Attachment ${index + 1}`}
          />
        ) : (
          <span key={index} class="chip">
            {part.name ?? 'file'}{' '}
            <span class="muted">
              {part.mediaType} · {size(Math.floor((part.data.length * 3) / 4))}
            </span>
          </span>
        ),
      )}
    </div>
  );
}
