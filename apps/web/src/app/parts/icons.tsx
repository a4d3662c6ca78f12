import type { VNode } from 'preact';

const paths = {
  plus: 'M8 3v10M3 8h10',
  find: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  clip: 'M13 7.5 7.8 12.7a3.2 3.2 0 0 1-4.5-4.5l5.6-5.6a2.1 2.1 0 0 1 3 3L6.4 11.1a1 1 0 0 1-1.5-1.5L9.8 4.8',
  panel: 'M2 3h12v10H2zM10 3v10',
  stop: 'M4 4h8v8H4z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  close: 'M4 4l8 8M12 4l-8 8',
} as const;

/** A small icon in the color of the text around it. */
export function Icon({ name }: { readonly name: keyof typeof paths }): VNode {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
