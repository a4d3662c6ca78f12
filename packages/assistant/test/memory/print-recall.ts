// Prints what each memory recalls for the 40 facts and 40 unrelated questions of data/recall.ts.
import { recallFigures } from './recall-figures.ts';

console.table(await recallFigures());
