//! Scripts without spaces between words: Han, kana, Hangul, Thai, Lao, Burmese and Khmer. A word can begin at any of their
//! letters, so a search may consist of two characters.

/// A letter or a sign of a script without spaces. Its digits are those of any other script.
pub fn is_written_without_spaces(character: char) -> bool {
    matches!(u32::from(character),
        // Thai, Lao
        0xe01..=0xe2e | 0xe30..=0xe3a | 0xe40..=0xe4e | 0xe81..=0xecf | 0xedc..=0xedf
        // Burmese, Khmer
        | 0x1000..=0x103f | 0x1050..=0x108f | 0x109a..=0x109d | 0xa9e0..=0xa9ef | 0xa9fa..=0xa9fe | 0xaa60..=0xaa7f
        | 0x1780..=0x17d3 | 0x17d7 | 0x17dc..=0x17dd
        // Han, kana, Hangul
        | 0x3005..=0x3007 | 0x3041..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3fffd)
}

/// A vowel, a tone or another sign of such a script that only stands behind a letter: no word begins with it.
pub fn is_dependent(character: char) -> bool {
    matches!(u32::from(character),
        // Thai, Lao. Their vowels that are written before a consonant begin words.
        0xe30..=0xe3a | 0xe45..=0xe4e | 0xeb0..=0xebc | 0xec6..=0xecf
        // Burmese, Khmer
        | 0x102b..=0x103e | 0x1056..=0x1059 | 0x105e..=0x1060 | 0x1062..=0x1064 | 0x1067..=0x106d | 0x1071..=0x1074
        | 0x1082..=0x108d | 0x108f | 0x109a..=0x109d | 0xa9e5..=0xa9e6 | 0xaa7b..=0xaa7d
        | 0x17b4..=0x17d3 | 0x17d7 | 0x17dd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_without_spaces_begin_at_letters() {
        for text in ["東京都庁", "カタカナ", "한국어", "ร้านขายยา", "ຮ້ານຂາຍຢາ", "ဆေးဆိုင်", "ឱសថស្ថាន"]
        {
            assert!(text.chars().all(is_written_without_spaces), "{text}");
            assert!(text.chars().next().is_some_and(|it| !is_dependent(it)), "{text}");
        }
        for character in
            ['e', 'é', 'ß', 'я', 'ع', 'ש', 'क', 'ा', 'த', 'ა', 'አ', '7', '๗', '၇', '៧', ' ', '-', '฿', '។']
        {
            assert!(!is_written_without_spaces(character), "{character}");
        }
        for character in ['า', 'ิ', '่', 'ະ', '້', 'ာ', '့', '်', 'ា', '្'] {
            assert!(is_dependent(character) && is_written_without_spaces(character), "{character}");
        }
        for character in ['เ', 'ไ', 'ก', 'ເ', 'က', 'ក', '一', 'あ'] {
            assert!(!is_dependent(character), "{character}");
        }
    }
}
