//! Words of the most widely used scripts, including short words in text without spaces.

use super::words::{found, upsert};
use harness::Database;
use serde_json::json;

/// A text in each script, with searches that find only this text.
const STRINGS: [(&str, &str, &[&str]); 26] = [
    ("latin", "Straßenmusik im Café", &["st", "musik", "cafe", "CA"]),
    ("cyrillic", "Городская аптека", &["ап", "птек", "ГОРОД"]),
    ("greek", "Φαρμακείο Αθηνών", &["αθ", "μακε", "αθηνων"]),
    ("armenian", "Դեղատուն Երևան", &["դե", "ղատ"]),
    ("georgian", "აფთიაქი თბილისი", &["აფ", "ბილ"]),
    ("hebrew", "בית מרקחת", &["בי", "רקח"]),
    ("arabic", "صيدلية المدينة", &["صي", "دلي"]),
    ("devanagari", "दवा की दुकान", &["दु", "दवा", "दुकान"]),
    ("bengali", "ওষুধের দোকান", &["দো", "দোকান"]),
    ("gurmukhi", "ਦਵਾਈ ਦੁਕਾਨ", &["ਦੁ", "ਦੁਕਾਨ"]),
    ("gujarati", "દવાની દુકાન", &["દુ", "દુકાન"]),
    ("odia", "ଔଷଧ ଦୋକାନ", &["ଦୋ", "ଦୋକାନ"]),
    ("tamil", "மருந்து கடை", &["கட", "மருந்து"]),
    ("telugu", "మందుల దుకాణం", &["దు", "దుకాణం"]),
    ("kannada", "ಔಷಧಿ ಅಂಗಡಿ", &["ಔಷ", "ಅಂಗಡಿ"]),
    ("malayalam", "മരുന്ന് കട", &["കട", "മരുന്ന്"]),
    ("sinhala", "ඖෂධ සාප්පුව", &["සා", "සාප්පුව"]),
    ("ethiopic", "መድኃኒት ቤት", &["ቤት", "ድኃኒ"]),
    ("tibetan", "སྨན་ཁང", &["ཁང", "སྨན"]),
    ("han", "東京都庁", &["京都", "庁", "東京都"]),
    ("kana", "コンピュータ", &["ピュ", "タ", "ピュー"]),
    ("hangul", "대한민국", &["민국", "국", "한민국"]),
    ("thai", "ร้านขายยาแก้ปวด", &["ยา", "ปว", "แก้", "ขายยา"]),
    ("lao", "ຮ້ານຂາຍຢາ", &["ຢາ", "ຂາຍ"]),
    ("khmer", "ហាងលក់ថ្នាំពេទ្យ", &["លក", "លក់", "ថ្នាំ"]),
    ("burmese", "ဆေးဆိုင်ကြီး", &["ကြ", "ကြီး", "ဆိုင်"]),
];

#[tokio::test]
async fn words_of_every_script_are_found_by_short_and_long_searches() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for (key, text, _) in STRINGS {
        upsert(&session, key, json!({"name": text})).await;
    }
    let mut missed = Vec::new();
    for (key, _, searches) in STRINGS {
        for search in searches {
            let keys = found(&session, search).await;
            if keys != key {
                missed.push(format!("{key}: {search} finds {keys:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[tokio::test]
async fn word_does_not_begin_with_a_combining_mark() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    upsert(&session, "thai", json!({"name": "ร้านขายยา"})).await;
    for (search, keys) in [("า", ""), ("้", ""), ("้า", ""), ("ย", "thai"), ("าย", "")] {
        assert_eq!(found(&session, search).await, keys, "{search}");
    }
}

#[tokio::test]
async fn words_without_spaces_are_highlighted() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    upsert(&session, "thai", json!({"name": "ร้านขายยาแก้ปวด"})).await;
    let search = "select keyed.search('crm.customers', '{\"global_search\": \"ยา\", \"highlight\": true}') #>> '{records,0,highlights}'";
    let highlights = session.text(search, &[]).await;
    assert!(highlights.contains("ขาย<mark>ยา</mark>แก้"), "{highlights}");
}
