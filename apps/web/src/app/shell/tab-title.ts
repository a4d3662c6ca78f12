import type { SessionEntry } from '../session/api.ts';

const colours: Readonly<Partial<Record<SessionEntry['status'], string>>> = {
  running: '#2f6feb',
  waiting: '#d97706',
  failed: '#d1242f',
  complete: '#1a7f4b',
};

const signs: Readonly<Partial<Record<SessionEntry['status'], string>>> = {
  running: '● ',
  waiting: '! ',
  failed: '✗ ',
};

/** Shows in the browser's tab what the session is and how it stands. */
export function showTabFace(title: string, status: SessionEntry['status'], waitingElsewhere: number): void {
  const others = waitingElsewhere > 0 ? `(${waitingElsewhere}) ` : '';
  const text = `${signs[status] ?? ''}${others}${title === '' ? 'Cobbler' : `${title} – Cobbler`}`;
  if (document.title !== text) document.title = text;
  const href = iconOf(colours[status]);
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link !== null && link.href !== href) link.href = href;
}

/** A shoe's sole, and a dot for how things stand. */
function iconOf(colour: string | undefined): string {
  const dot =
    colour === undefined
      ? ''
      : `<circle cx="23" cy="23" r="8" fill="${colour}" stroke="#fff" stroke-width="2"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3d4a5c"/><path d="M10 5c4 0 6 4 5 9s-1 5 0 9-2 5-4 5-5-2-5-7 1-4 0-8 0-8 4-8z" fill="#fff"/>${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
