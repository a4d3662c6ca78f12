/**
 * Words without information about the topic of a text, in English, German, Spanish and French, and the words with
 * which a summary refers to the user. Without accents, as {@link wordsOf} returns them.
 */
const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also always am an and any are as at away be because been before being below between
  both but by can cannot come coming could did do does doing done don down during each every few find for from further
  gave get gets getting give given go goes going got had has have having he her here hers him his how i if in into is
  it its just know let like ll made make makes many may me might mine more most much must my need needs never no nor
  not now of off often on once one only or other our out over own please put re really remind said same say see shall
  she should since so some soon still such suit suits sure take takes tell than that the their them then there these
  they thing things this those through to too under until up us use used using user users ve very want wants was we
  were what when where whether which while who whom whose why will with within without would yes yet you your yours
  aber als am an auch auf aus bei bin bis bist bitte da damit dann das dass dein dem den denn der des die dies diese
  dieser doch dort du durch ein eine einem einen einer eines er es etwas euch fur gab gegen gern gibt habe haben hast
  hat hatte ich ihm ihn ihr ihre im immer in ins ist ja jede jeder kann kannst kein keine mal man mehr mein meine
  meinem meinen meiner mich mir mit muss nach nein nicht nichts noch nun nur nutzer nutzerin nutzers ob oder ohne schon
  sehr sein seine seit sich sie sind so soll um und uns unser unter vom von vor war waren warum was weil welche welchem
  welchen welcher welches wenn wer werden wie will wir wird wo wurde zu zum zur zwischen
  al algo antes aqui asi bien como con cual cuando cuanto cuantos cuantas de del desde despues donde dos e el ella ellos
  en entre era es esa ese eso esta estan estas este esto estoy fue ha hace hay he la las le les lo los mas me mi mis muy
  nada ni o otra otro para pero por porque puede puedo que quien se ser si sin sobre son soy su sus tambien tan te tengo
  tiene todo tu tus un una uno unos usuaria usuario y ya yo
  au aux avec ce ces cette dans de des du elle en est et eux il ils je la le les leur lui ma mais mes moi mon ne nos
  notre nous on ont ou par pas pour qu que qui sa sans ses son sont suis sur ta te tes toi ton une vos votre vous`.split(
    /\s+/,
  ),
);

/** Words that occur in questions about any topic; they have less weight. */
const faint: ReadonlySet<string> = new Set(
  `add ask best better big call change day days different evening everybody explain fast find good great help hour
  hours keep large last later list live long look lot mean means month months morning name new next night number
  old part people place person point right run runs show small start started thing time times today tomorrow tonight
  try turn two three week weeks word words work works write year years
  alt arbeit erklare erste gut heute jahr jahre lang lange leben lebt machen morgen name neu stadt tag tage welt woche
  wort zeit bueno buena ciudad dia dias hacer manana nombre nuevo nueva palabra semana tiempo trabajo vez vida ano anos`.split(
    /\s+/,
  ),
);

/** Endings of plurals, verbs and cases in the same languages, longest first. At least four letters must remain. */
const endings: readonly string[] = [
  ...['iendo', 'ando', 'ings', 'ung', 'ing', 'ies', 'ern', 'est', 'aba'],
  ...['ed', 'en', 'er', 'es', 'em', 'os', 'as', 'ar', 'ir', 'an', 'a', 'e', 'n', 'o', 's', 'y'],
];

/** A word with information about the topic. */
export interface Word {
  /** The stem that it shares with its other forms. */
  readonly stem: string;
  /** Its weight, about 1. */
  readonly weight: number;
}

/** Scripts without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Returns the words of a text in lower case and without accents. For scripts without spaces, every two characters. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((run) => (unspaced.test(run) ? pairsOf(run) : [run]));
}

/** Returns the words with information about the topic of a text, and their weights. */
export function contentWords(text: string): Word[] {
  return wordsOf(text).flatMap((word) => {
    if (stopWords.has(word) || (word.length === 1 && !/\p{N}/u.test(word))) return [];
    return [{ stem: stemOf(word), weight: estimateTokens(word) }];
  });
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Returns the stem of a word. One ending may precede another: "tomatoes" must have the same stem as "tomato". */
function stemOf(word: string): string {
  let stem = word;
  for (let round = 0; round < 3; round += 1) {
    const left = stem;
    const ending = endings.find((end) => left.endsWith(end) && left.length - end.length >= 4);
    if (ending === undefined) break;
    stem = left.slice(0, -ending.length);
  }
  return stem;
}

/** Returns the weight of a word. Long words are usually rare. */
function estimateTokens(word: string): number {
  if (faint.has(word)) return 0.4;
  return word.length <= 3 ? 0.8 : Math.min(0.9 + word.length * 0.03, 1.25);
}
