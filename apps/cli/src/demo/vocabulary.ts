/** First names, as diverse as in a class in Melbourne or Brisbane. */
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
