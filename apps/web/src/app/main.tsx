import { render } from 'preact';
import { Announcer } from './announcer.tsx';
import { App } from './app.tsx';
import { Desk } from './desk.ts';
import { chosenTheme, showTheme } from './theme.ts';

showTheme(chosenTheme());
const announcer = new Announcer();
const desk = new Desk(announcer);
const root = document.getElementById('page');
// Signed in first, so that nobody is asked for what the address brings along.
void desk.open().then(() => {
  if (root === null) return;
  root.replaceChildren();
  render(<App desk={desk} announcer={announcer} />, root);
});
