import { render } from 'preact';
import { App } from './app.tsx';
import { Announcer } from './parts/announcer.tsx';
import { chosenTheme, showTheme } from './parts/theme.ts';
import { AppState } from './shell/app-state.ts';

showTheme(chosenTheme());
const announcer = new Announcer();
const app = new AppState(announcer);
const root = document.getElementById('page');
// Signs in first, so that the page does not ask for the token in the address.
void app.open().then(() => {
  if (root === null) return;
  root.replaceChildren();
  render(<App app={app} announcer={announcer} />, root);
});
