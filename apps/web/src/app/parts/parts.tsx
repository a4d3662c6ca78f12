import type { UserPart } from '@cobbler/agent';
import type { VNode } from 'preact';
import { size } from './format.ts';

/** Image types that a browser shows and that cannot contain a script. */
const pictures = /^image\/(png|jpeg|gif|webp)$/;

/** Images and documents: parts that are not text. */
export function Parts({ parts }: { readonly parts: readonly UserPart[] }): VNode | null {
  const shown = parts.filter(({ type }) => type !== 'text');
  if (shown.length === 0) return null;
  return (
    <div class="parts">
      {shown.map((part, index) =>
        part.type === 'image' && pictures.test(part.mediaType) ? (
          <img
            key={index}
            src={`data:${part.mediaType};base64,${part.data}`}
            alt={`Attachment ${index + 1}`}
          />
        ) : (
          part.type !== 'text' && (
            <span key={index} class="chip">
              {part.type === 'document' ? (part.name ?? 'document') : 'picture'}{' '}
              <span class="muted">
                {part.mediaType} · {size(Math.floor((part.data.length * 3) / 4))}
              </span>
            </span>
          )
        ),
      )}
    </div>
  );
}
