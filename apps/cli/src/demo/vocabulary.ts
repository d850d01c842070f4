/** First names, as mixed as a class in Melbourne or Brisbane. */
export const FIRST_NAMES = [
  'Oliver', 'Charlotte', 'Jack', 'Amelia', 'Noah', 'Isla', 'William', 'Mia', 'Henry', 'Grace', 'Thomas', 'Chloe',
  'Lucas', 'Ella', 'Ethan', 'Zoë', 'Liam', 'Ruby', 'Finn', 'Matilda', 'Angus', 'Imogen', 'Lachlan', 'Tilly',
  'Arjun', 'Priya', 'Aarav', 'Anika', 'Rohan', 'Saanvi', 'Harpreet', 'Simran', 'Wei', 'Mei', 'Jun', 'Xin Yi',
  'Minh', 'Linh', 'Khoa', 'Thuy', 'Hana', 'Kenji', 'Ji-ho', 'Seo-yeon', 'Mohammed', 'Fatima', 'Yusuf', 'Aisha',
  'Omar', 'Layla', 'Zahra', 'Karim', 'Sofia', 'Marco', 'Eleni', 'Nikos', 'Luka', 'Ana', 'Mateo', 'Valentina',
  'Tane', 'Mere', 'Sione', 'Jarrah', 'Kirra', 'Talia', 'Dinuka', 'Nadeesha', 'Jose', 'Maricel', 'Siobhan', 'Amara',
]; // prettier-ignore

export const LAST_NAMES = [
  'Smith', 'Nguyen', 'Jones', 'Williams', 'Brown', 'Wilson', 'Taylor', 'Singh', 'Tran', 'Kaur', 'Chen', 'Wang',
  'Li', 'Zhang', 'Patel', 'Sharma', 'Kumar', "O'Brien", 'Murphy', 'Kelly', 'Ryan', 'Papadopoulos', 'Georgiou', 'Rossi',
  'Russo', 'Haddad', 'Khoury', 'Ahmed', 'Hussein', 'Rahman', 'Kim', 'Park', 'Lee', 'Tanaka', 'Santos', 'Reyes',
  'Silva', 'Fernando', 'Perera', 'MacDonald', 'Campbell', 'Clarke', 'Mitchell', 'Walker', 'Thompson', 'Wright',
  'Le', 'Pham', 'Vu', 'Ngo', 'Kovačević', 'Novak', 'Okafor', 'Mensah', 'Tuilagi', 'Ngata', 'Fitzgerald', 'Doyle',
]; // prettier-ignore

export interface Place {
  suburb: string;
  postcode: string;
  lat: number;
  lng: number;
}

function place(suburb: string, postcode: string, lat: number, lng: number): Place {
  return { suburb, postcode, lat, lng };
}

export const MELBOURNE = [
  place('Carlton', '3053', -37.8001, 144.9671),
  place('Brunswick', '3056', -37.7667, 144.9626),
  place('Footscray', '3011', -37.8001, 144.8995),
  place('Glen Waverley', '3150', -37.8781, 145.1648),
  place('Box Hill', '3128', -37.8189, 145.1217),
  place('Preston', '3072', -37.7435, 145.0087),
  place('Richmond', '3121', -37.8233, 144.9986),
  place('Dandenong', '3175', -37.9875, 145.2153),
  place('Werribee', '3030', -37.9009, 144.6598),
  place('Hawthorn', '3122', -37.8217, 145.0353),
];

export const BRISBANE = [
  place('Toowong', '4066', -27.4844, 152.9906),
  place('West End', '4101', -27.4813, 153.0079),
  place('Sunnybank', '4109', -27.5789, 153.0587),
  place('Chermside', '4032', -27.3857, 153.0306),
  place('Indooroopilly', '4068', -27.5004, 152.9739),
  place('Carindale', '4152', -27.5056, 153.1026),
  place('Fortitude Valley', '4006', -27.4568, 153.0338),
  place('Redcliffe', '4020', -27.2308, 153.0972),
];

export const VCE_SUBJECTS = [
  'Mathematical Methods', 'Specialist Mathematics', 'General Mathematics', 'English', 'English Language', 'Chemistry',
  'Physics', 'Biology', 'Psychology', 'Economics', 'Legal Studies', 'Algorithmics',
]; // prettier-ignore

export const QCE_SUBJECTS = [
  'Mathematical Methods', 'Specialist Mathematics', 'General Mathematics', 'English', 'Literature', 'Chemistry',
  'Physics', 'Biology', 'Modern History', 'Digital Solutions',
]; // prettier-ignore

export const HOMEWORK_TITLES = [
  'Chapter exercises, odd numbers', 'Practice SAC under timed conditions', 'Past exam, Section A', 'Essay plan',
  'Correct last week’s mistakes', 'Summary sheet for the bound reference', 'Prac report: method and results',
  'Past exam, Section B without notes', 'Comparative paragraph', 'Revision of Unit 3, Area of Study 1',
  'Flashcards for the term test', 'Oral presentation outline',
]; // prettier-ignore

export const HOMEWORK_NOTES = [
  'Show all working and circle anything you were unsure of.',
  'Aim for 90 minutes, then mark it with the assessor’s report.',
  'Bring your attempt on paper to the next session.',
  'No CAS for the first six questions.',
  'Use at least three quotes, and explain the effect of each.',
  'Finish this before the Term holidays.',
];

/** What is said of a lesson, by its rating. */
export const COMMENTS: Record<number, string[]> = {
  5: [
    'Explains calculus so that it finally makes sense.',
    'Patient and always prepared. Our daughter looks forward to Thursdays.',
    'Went up from a C+ to an A in one term.',
    'Very helpful before the SAC.',
  ],
  4: ['Great with past exams, could leave more time for questions.', 'Clear and friendly; I would like more homework.'],
  3: ['Good lesson, but we did not get to the second exercise.', 'Helpful, though a little fast for me.'],
  2: ['Started ten minutes late, so we had to hurry.', 'The worksheet was for another chapter.'],
  1: ['We talked about the wrong exam for half of the lesson.'],
};

/** What another tutor says who sat in on it. */
export const PEER_COMMENTS = [
  'Sat in on this one: calm, well paced, good questions.',
  'The worked examples carried it.',
];

export const POSITIVE_TAGS = ['clear explanations', 'patient', 'well prepared', 'encouraging', 'good resources'];
export const IMPROVE_TAGS = ['punctuality', 'more practice questions', 'slower pace', 'more feedback'];

export const MESSAGES = [
  'Hi! Are we still on for this week?',
  'Yes, same time. Please bring the practice SAC.',
  'Thanks, that worked example helped a lot.',
  'I have uploaded the worksheet for Unit 4.',
  'Could we move Thursday to 5 pm? There is a school concert.',
  'No worries, see you then.',
];
