import type { SessionEntry } from './api.ts';

const key = 'cobbler-notify';

/** True if the user has turned desktop notifications on, and the browser allows them. */
export function notifies(): boolean {
  return (
    localStorage.getItem(key) === 'on' && 'Notification' in window && Notification.permission === 'granted'
  );
}

/** Turns desktop notifications on or off, as the user has clicked. Asks the browser for its permission only then. */
export async function toggleNotifications(): Promise<void> {
  const isOn =
    !notifies() && 'Notification' in window && (await Notification.requestPermission()) === 'granted';
  localStorage.setItem(key, isOn ? 'on' : 'off');
}

/** Tells the user, while the page is hidden, which sessions wait or are done since the list changed. No text of a model. */
export function notifyChanges(before: readonly SessionEntry[], now: readonly SessionEntry[]): void {
  if (!document.hidden || !notifies()) return;
  const old = new Map(before.map(({ id, status }) => [id, status]));
  for (const { id, status } of now) {
    const was = old.get(id);
    const isDone = was === 'running' && status !== 'waiting';
    if (was === undefined || was === status || !(isDone || status === 'waiting')) continue;
    const body = isDone ? 'A session is done.' : 'A session is waiting for you.';
    const shown = new Notification('Cobbler', { body, tag: id });
    shown.onclick = () => {
      focus();
      location.assign(`/s/${encodeURIComponent(id)}`);
    };
  }
}
