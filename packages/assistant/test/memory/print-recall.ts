// Prints what the memories recall of the facts in data/recall.ts, of 40 each.
import { recallFigures } from './recall-figures.ts';

console.table(await recallFigures());
