interface Post {
  title: string;
  excerpt: string | null;
  category: string | null;
  tags: string[];
  paragraphs: string[];
}

/** The demo organizations' blog posts. */
export const POSTS: Post[] = [
  {
    title: 'How scaling works, and how it does not',
    excerpt: 'Choosing a subject for its scaling is a bet against yourself. What the numbers really say.',
    category: 'Choosing subjects',
    tags: ['subjects', 'families'],
    paragraphs: [
      'Every July a parent asks us whether their child should swap General Mathematics for Methods because it scales up. It is the wrong question: a 28 in a subject you dread stays a low number after scaling, and it costs you the hours that the other five subjects needed.',
      'Scaling compares how the same students did in all their subjects. It moves a score towards what that group of students achieves elsewhere, no more. It does not reward hard subjects, and it cannot rescue a subject you do not sit down for.',
      'Our advice has not changed in ten years. Pick what you would read about without being asked, check the prerequisites of the courses you want, and leave the calculator alone.',
    ],
  },
  {
    title: 'A study timetable for Term 3',
    excerpt: 'Four blocks a week, one free evening, and a rule for the days when nothing works.',
    category: 'Study tips',
    tags: ['study'],
    paragraphs: [
      'Term 3 is ten weeks long and feels like four. A timetable that survives it is short: two blocks for the subject that worries you, one for each of the others, forty-five minutes each, with the phone in another room.',
      'Keep one evening free and defend it. Students who plan seven evenings usually keep three; those who plan five keep five.',
      'On days when nothing works, do the smallest useful thing: mark yesterday’s exercise, write one flashcard, pack the bag. The habit counts, not the hour.',
    ],
  },
  {
    title: 'Five mistakes in Methods exams',
    excerpt: 'They cost about eight marks a year, and each has a cure that fits on a card.',
    category: 'Study tips',
    tags: ['study', 'exams'],
    paragraphs: [
      'We have marked some three hundred practice papers this year. The same five mistakes appear in two out of three: a lost negative when a bracket is expanded, a missing domain, an answer in degrees, dx forgotten under the integral, and a probability above one that nobody looked at twice.',
      'None of them is about understanding. Read the question once more after you have answered it, underline what it asks for, and compare. That takes twenty seconds and is worth a grade.',
    ],
  },
  {
    title: 'Reading the examination report',
    excerpt: 'The most useful document of the year is free, and almost nobody reads it.',
    category: 'Study tips',
    tags: ['study', 'exams'],
    paragraphs: [
      'After each exam the examiners write down what went wrong, question by question. Take last year’s report and a highlighter, and mark every sentence that begins with “Many students”.',
      'Then do those questions first. You will meet them again in November, with other numbers.',
    ],
  },
  {
    title: 'Welcome to our new tutors',
    excerpt: null,
    category: 'News',
    tags: ['tutors'],
    paragraphs: [
      'Three new tutors join us this term, for Chemistry, Specialist Mathematics and English. All three taught in schools before; one of them still plays the cello in a quartet that we are told is very good.',
      'Ask at the desk if you would like to try a lesson with one of them. The first half hour is on us.',
    ],
  },
  {
    title: 'Holiday revision workshops',
    excerpt: 'Three mornings, twelve places each, and a past exam under real conditions on the last day.',
    category: 'News',
    tags: ['workshops', 'exams'],
    paragraphs: [
      'In the second week of the holidays we run three mornings of revision, from nine to half past twelve, with a break for toast. Monday is for gaps, Wednesday for past papers, and on Friday you sit a whole exam, quietly and on time.',
      'There are twelve places for each subject. Bring your notes, a pen that works, and something to eat.',
    ],
  },
  {
    title: 'What an assessment is really testing',
    excerpt: 'Not memory. Teachers look for one thing, and it can be practised.',
    category: null,
    tags: [],
    paragraphs: [
      'An assessment asks whether you can use an idea in a place where you have not seen it before. So practise in unfamiliar places: change the context of an exercise, explain it to somebody who does not take the subject, solve it a second way.',
      'Learning the summary sheet by heart feels like work. It mostly prepares you for writing summary sheets.',
    ],
  },
  {
    title: 'Helping your child without doing the homework',
    excerpt: 'Three questions that help more than the answer does.',
    category: 'For families',
    tags: ['families'],
    paragraphs: [
      'When they are stuck, ask: what is the question asking for? What have you tried? Where did it stop making sense? By the third question most students have found the next step by themselves.',
      'And when it is late, send them to bed. A tired hour undoes a good one.',
    ],
  },
  {
    title: 'Choosing Year 11 subjects',
    excerpt: 'Start from the course you might want, and keep one door open that you do not expect to use.',
    category: 'Choosing subjects',
    tags: ['subjects'],
    paragraphs: [
      'Write down two or three courses that you could imagine, look up their prerequisites, and you will find that most decisions are made already. What is left is one or two subjects: take those where you like the people and the reading.',
      'Keep one door open. We have seen a future nurse fall in love with Physics, and it was good that she could.',
    ],
  },
  {
    title: 'Calm before exams',
    excerpt: null,
    category: null,
    tags: ['exams'],
    paragraphs: [
      'The night before: pack the bag, set two alarms, walk once around the block, and stop reading at nine. Nothing that you learn after nine will be on the paper, and you will want the sleep.',
      'In the reading time, read everything, the last question too. Begin with the one that you like. Breathe out slowly before you turn the page; it sounds like nothing, and it works.',
    ],
  },
];
