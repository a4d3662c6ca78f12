/** A fact as a summary states it, and questions that a user may ask about it later. */
export interface RecallFact {
  readonly fact: string;
  /** A question with one content word of the fact, perhaps inflected. */
  readonly asked: string;
  /** A question without any content word of the fact: only the meaning connects them. */
  readonly meant: string;
}

export const facts: readonly RecallFact[] = [
  {
    fact: 'The user is allergic to peanuts and carries an epinephrine pen.',
    asked: 'Which food could trigger my allergic reaction?',
    meant: 'What snack must I never eat because my body cannot take it?',
  },
  {
    fact: "The user's sister Ana works as a veterinarian in Porto.",
    asked: 'What does my sister do for a living?',
    meant: 'Which job has my sibling got?',
  },
  {
    fact: 'The user drives a blue Volvo from 2014.',
    asked: 'How old is my Volvo by now?',
    meant: 'Which car do I own?',
  },
  {
    fact: 'The flight to Lisbon leaves on 12 March at 07:40 from terminal 2.',
    asked: 'When does my flight take off?',
    meant: 'What time do I have to be on the plane?',
  },
  {
    fact: 'The user has a meeting with the dentist every six months.',
    asked: 'Should I call the dentist again soon?',
    meant: 'When is my next tooth check-up due?',
  },
  {
    fact: 'The user is training for the Berlin marathon in September.',
    asked: 'How many weeks remain before the marathon?',
    meant: 'Which long race am I running this autumn?',
  },
  {
    fact: 'The wifi password of the guest network is kept in the kitchen drawer.',
    asked: 'A visitor needs the password, where did I put it?',
    meant: 'Where is the internet code for visitors?',
  },
  {
    fact: "The user's daughter Mia started primary school in August.",
    asked: 'Which grade is my daughter in?',
    meant: 'When did my kid begin her first class?',
  },
  {
    fact: 'The user prefers vegetarian restaurants and avoids fish.',
    asked: 'Find me a restaurant for tonight that suits me',
    meant: 'Where could I dine without meat on the plate?',
  },
  {
    fact: 'The landlord allows one dog but no cats in the apartment.',
    asked: 'Would my landlord mind if I got a hamster?',
    meant: 'Which pets are permitted in my flat?',
  },
  {
    fact: 'The user plays the cello in an amateur orchestra on Tuesdays.',
    asked: 'On which evening is orchestra rehearsal?',
    meant: 'Which instrument do I practise?',
  },
  {
    fact: 'The annual car insurance costs 640 euros and renews in November.',
    asked: 'How much do I pay for insurance?',
    meant: 'What is the yearly premium of my vehicle policy?',
  },
  {
    fact: 'The user quit smoking in January 2023.',
    asked: 'For how long have I not been smoking?',
    meant: 'Since when am I free of cigarettes?',
  },
  {
    fact: "The user's mother celebrates her birthday on 3 May.",
    asked: 'Remind me, whose birthday is coming up?',
    meant: 'When does mum turn a year older?',
  },
  {
    fact: 'The user takes 50 micrograms of levothyroxine before breakfast.',
    asked: 'What is my dose of levothyroxine?',
    meant: 'Which medicine do I swallow in the morning?',
  },
  {
    fact: 'The project Falcon has to be delivered to the client on Friday.',
    asked: 'What is the deadline of Falcon?',
    meant: 'By when does my customer expect the work?',
  },
  {
    fact: 'The user is afraid of heights and dislikes cable cars.',
    asked: 'Is a walk on the glass bridge fine given my fear of heights?',
    meant: 'What am I scared of?',
  },
  {
    fact: 'The spare key is with the neighbour Mr Okafor on the second floor.',
    asked: 'Who keeps my spare key?',
    meant: 'I locked myself out, who next door can open up?',
  },
  {
    fact: 'The user studies Japanese with a tutor on Thursday evenings.',
    asked: 'How is my Japanese coming along, when is the next lesson?',
    meant: 'Which foreign language am I learning?',
  },
  {
    fact: 'The garden needs new soil before the tomatoes are planted in April.',
    asked: 'When can I put the tomatoes outside?',
    meant: 'What has to be done in the yard before spring vegetables?',
  },
  {
    fact: 'The user repaired the dishwasher by changing its pump in June.',
    asked: 'The dishwasher makes a noise again, what had I replaced?',
    meant: 'Which kitchen appliance did I fix last summer?',
  },
  {
    fact: 'The wedding of Tom and Priya takes place at Lake Como in July.',
    asked: 'What should I wear to the wedding?',
    meant: 'Where will my friends get married?',
  },
  {
    fact: 'The user supports the football club Union and has a season ticket.',
    asked: 'Does my ticket cover the game on Sunday?',
    meant: 'Which soccer team do I cheer for?',
  },
  {
    fact: 'The laptop of the user has 16 gigabytes of memory and runs Linux.',
    asked: 'Can my laptop run a virtual machine?',
    meant: 'How much RAM does my notebook computer have?',
  },
  {
    fact: 'The user promised to water the plants of Helena while she is away.',
    asked: 'Whose plants am I looking after?',
    meant: 'What did I agree to do for her flowers during the holiday?',
  },
  {
    fact: 'The mortgage has a fixed interest rate of 2.1 percent until 2031.',
    asked: 'When does my mortgage have to be refinanced?',
    meant: 'What do I pay the bank on the house loan?',
  },
  {
    fact: 'Der Nutzer wohnt seit 2019 in Leipzig und hat einen Balkon.',
    asked: 'Wie lange lebe ich schon in Leipzig?',
    meant: 'In welcher Stadt bin ich zu Hause?',
  },
  {
    fact: 'Die Katze des Nutzers heißt Mimi und bekommt nur Trockenfutter.',
    asked: 'Was darf die Katze fressen?',
    meant: 'Wie nennt sich mein Haustier?',
  },
  {
    fact: 'Der Nutzer arbeitet als Krankenpfleger im Schichtdienst.',
    asked: 'In welchem Krankenhaus passt der Schichtdienst zu mir?',
    meant: 'Welchen Beruf übe ich aus?',
  },
  {
    fact: 'Das Fahrrad wurde im Oktober vor dem Bahnhof gestohlen.',
    asked: 'Wann habe ich mein Fahrrad verloren?',
    meant: 'Was haben mir Diebe geklaut?',
  },
  {
    fact: 'Der Nutzer verträgt keine Milch und trinkt Haferdrink.',
    asked: 'Kann ich einen Kuchen mit Milch essen?',
    meant: 'Warum ist Laktose nichts für mich?',
  },
  {
    fact: 'Die Steuererklärung muss bis Ende Juli beim Finanzamt sein.',
    asked: 'Bis wann schicke ich die Steuererklärung ab?',
    meant: 'Welche Frist hat das Amt für meine Abgaben gesetzt?',
  },
  {
    fact: 'Der Nutzer liest gern Krimis von Agatha Christie.',
    asked: 'Empfiehl mir noch einen Krimi',
    meant: 'Welche Bücher mag ich?',
  },
  {
    fact: 'Die Großmutter des Nutzers ist 92 und lebt in Graz.',
    asked: 'Wie alt ist meine Großmutter?',
    meant: 'Wo ist Oma daheim?',
  },
  {
    fact: 'El usuario trabaja como ingeniero en Valencia.',
    asked: '¿En qué ciudad trabajo?',
    meant: '¿Cuál es mi profesión?',
  },
  {
    fact: 'El hijo del usuario se llama Mateo y juega al baloncesto.',
    asked: '¿Qué deporte practica mi hijo?',
    meant: '¿Cómo se llama el niño de la familia?',
  },
  {
    fact: 'El usuario tiene una reserva de hotel en Sevilla para abril.',
    asked: '¿Para cuándo está hecha la reserva?',
    meant: '¿Dónde voy a alojarme en primavera?',
  },
  {
    fact: 'La usuaria no bebe café después de las cuatro porque duerme mal.',
    asked: '¿Puedo tomar otro café ahora?',
    meant: '¿Qué me quita el sueño por la tarde?',
  },
  {
    fact: 'El perro del usuario tiene cita con el veterinario el lunes.',
    asked: '¿Cuándo llevo el perro al médico?',
    meant: '¿Qué día ve el doctor a mi mascota?',
  },
  {
    fact: 'La usuaria aprende a tocar la guitarra desde enero.',
    asked: '¿Desde cuándo toco la guitarra?',
    meant: '¿Qué instrumento estudio?',
  },
];

/** Questions that no fact answers. Some still share a word with a fact. */
export const unrelated: readonly string[] = [
  'What is the boiling point of water at sea level?',
  'Write a haiku about autumn leaves',
  'How do I reverse a list in Python?',
  'Who painted the Mona Lisa?',
  'Translate "good morning" into Finnish',
  'What is the square root of 1764?',
  'Explain photosynthesis to a ten year old',
  'How far away is the moon?',
  'Give me three synonyms for happy',
  'What happened in the French Revolution?',
  'How do vaccines work?',
  'Convert 30 miles to kilometres',
  'Why is the sky blue?',
  'Write a polite email declining an invitation',
  'What is the difference between TCP and UDP?',
  'How tall is Mount Everest?',
  'Tell me a joke about programmers',
  'Which planet has the most rings?',
  'How do I poach an egg?',
  'What does the idiom "bite the bullet" mean?',
  'Summarise the plot of Hamlet',
  'What is inflation?',
  'How do magnets work?',
  'Name the largest desert on earth',
  'When was the printing press invented?',
  'How do I remove red wine from a carpet?',
  'What is the capital of Mongolia?',
  'Is a tomato a fruit?',
  'How fast does a cheetah run?',
  'Which keys do I press to take a screenshot on Windows?',
  'Wie viele Einwohner hat Österreich?',
  'Erkläre mir den Satz des Pythagoras',
  'Was ist der Unterschied zwischen Wetter und Klima?',
  'Schreibe ein Gedicht über den Winter',
  'Wie funktioniert ein Dieselmotor?',
  'Welche Farbe hat ein Rubin?',
  '¿Quién escribió Don Quijote?',
  '¿Cuántos huesos tiene el cuerpo humano?',
  '¿Cómo se hace una tortilla de patatas?',
  '¿Qué significa la palabra ojalá?',
];

/**
 * Groups of words with the same meaning, as the test embedder knows them instead of a trained
 * model. Two texts are similar if they share such meanings; every other word has a meaning of
 * its own.
 */
export const synonyms: readonly (readonly string[])[] = [
  ['allergic', 'peanuts', 'snack', 'food', 'eat'],
  ['sister', 'sibling'],
  ['works', 'job', 'veterinarian', 'profession'],
  ['volvo', 'car', 'drives', 'own'],
  ['flight', 'plane', 'terminal'],
  ['dentist', 'tooth', 'check', 'meeting', 'due', 'months'],
  ['marathon', 'race', 'running', 'training'],
  ['wifi', 'internet', 'network', 'password', 'code'],
  ['guest', 'visitors'],
  ['daughter', 'kid', 'mia'],
  ['school', 'class', 'started', 'begin', 'primary'],
  ['vegetarian', 'meat', 'fish', 'plate'],
  ['restaurants', 'dine'],
  ['dog', 'cats', 'pets'],
  ['allows', 'permitted', 'landlord'],
  ['apartment', 'flat'],
  ['cello', 'instrument', 'orchestra', 'practise', 'plays'],
  ['insurance', 'policy', 'premium', 'costs'],
  ['annual', 'yearly'],
  ['smoking', 'cigarettes', 'quit'],
  ['mother', 'mum'],
  ['birthday', 'older', 'celebrates'],
  ['levothyroxine', 'medicine', 'micrograms', 'takes', 'swallow'],
  ['dose', 'micrograms', 'breakfast'],
  ['client', 'customer'],
  ['delivered', 'expect', 'project', 'deadline'],
  ['afraid', 'scared', 'fear', 'heights', 'dislikes'],
  ['key', 'locked', 'spare'],
  ['neighbour', 'door'],
  ['japanese', 'language', 'foreign', 'learning', 'studies', 'tutor'],
  ['garden', 'yard', 'soil', 'outside', 'vegetables', 'spring', 'planted'],
  ['dishwasher', 'appliance', 'kitchen'],
  ['repaired', 'fix', 'changing', 'summer', 'june'],
  ['wedding', 'married', 'tom', 'priya', 'friends'],
  ['football', 'soccer', 'club', 'team', 'supports', 'cheer', 'season', 'ticket', 'game'],
  ['laptop', 'notebook', 'computer', 'virtual', 'machine'],
  ['memory', 'ram', 'gigabytes'],
  ['plants', 'flowers', 'helena'],
  ['promised', 'agree', 'away', 'holiday'],
  ['mortgage', 'loan', 'house', 'bank', 'interest', 'rate', 'pay', 'refinanced'],
  ['wohnt', 'stadt', 'hause', 'leipzig', 'lebt', 'daheim'],
  ['katze', 'haustier', 'heißt', 'nennt', 'mimi'],
  ['arbeitet', 'beruf', 'krankenpfleger'],
  ['fahrrad', 'diebe', 'gestohlen', 'geklaut'],
  ['milch', 'laktose', 'verträgt', 'haferdrink'],
  ['steuererklärung', 'abgaben', 'finanzamt', 'amt', 'frist', 'ende'],
  ['krimis', 'bücher', 'liest', 'mag', 'christie'],
  ['großmutter', 'oma'],
  ['trabaja', 'profesión', 'ingeniero'],
  ['hijo', 'niño', 'familia', 'mateo', 'llama'],
  ['hotel', 'alojarme', 'reserva', 'abril', 'primavera'],
  ['café', 'sueño', 'duerme', 'tarde', 'mal'],
  ['perro', 'mascota', 'veterinario', 'doctor', 'cita', 'día', 'lunes'],
  ['guitarra', 'instrumento', 'tocar', 'aprende', 'estudio'],
];
